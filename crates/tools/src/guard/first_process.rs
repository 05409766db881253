//! The first process of a sandbox: it confines itself, starts the command, reaps the command's orphans, and reports how
//! the command ended. When it ends, the kernel kills all other processes of its PID namespace.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::net::RecvFlags;
use rustix::process::{Pid, WaitOptions, WaitStatus};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use windlass_sandbox::{Confinement, ESCAPE_VARIABLES, Isolation};

use super::confined::KernelRefused;
use super::handover::{self, ReceivedRequest};
use super::wire::{CleanupReport, GuardReport, GuardRequest, Stdin};

/// The environment variable that tells a program that it runs in the sandbox.
const IN_SANDBOX_VARIABLE: &str = "WINDLASS_IN_SANDBOX";

/// Serves the request that arrives over `channel`.
pub(super) fn run(channel: &UnixStream) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // Caught, because they are meant for the command; a stop request arrives over the channel.
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    let Some(ReceivedRequest { line, input, rest }) = handover::receive(channel)? else {
        // The guard is gone.
        return Ok(());
    };
    let request: GuardRequest = serde_json::from_slice(&line)?;
    let report = match confine_self(&request, channel).map(|confinement| start(&request, confinement, input)) {
        Ok(Ok(shell)) => await_end(shell, || !rest.is_empty() || is_stop_requested(channel)),
        Ok(Err(error)) => GuardReport::Failed(error.to_string()),
        Err(error) => KernelRefused::report(&KernelRefused::by_kernel(error)),
    };
    send_report(channel, &report);
    Ok(())
}

/// Reports why there is no first process, once the request has arrived.
#[cfg(target_os = "linux")]
pub(super) fn report_refusal(channel: &UnixStream, error: &io::Error) {
    // A guard that is gone needs no report.
    if handover::receive(channel).is_ok_and(|request| request.is_some()) {
        send_report(channel, &KernelRefused::report(error));
    }
}

fn send_report(mut channel: &UnixStream, report: &GuardReport) {
    let line = serde_json::to_string(report).unwrap_or_default() + "\n";
    // A guard that is gone has killed this process, or will.
    let _ = channel.write_all(line.as_bytes());
}

/// Confines this process as the request demands.
fn confine_self<'r>(request: &'r GuardRequest, channel: &UnixStream) -> io::Result<&'r Confinement> {
    let confinement = request.confinement.as_ref().ok_or_else(|| io::Error::other("no confinement was sent"))?;
    let landlock = confine(confinement)?;
    // The command must not trace this process, which reports how the command ended.
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    send_report(channel, &GuardReport::Confined { landlock, cleanup: CleanupReport::default() });
    Ok(confinement)
}

fn start(request: &GuardRequest, confinement: &Confinement, input: Option<OwnedFd>) -> io::Result<Pid> {
    let stdin = match (request.input, input) {
        (Stdin::Nothing, _) => Stdio::null(),
        (Stdin::Passed, Some(input)) => Stdio::from(input),
        (Stdin::Passed, None) => return Err(io::Error::other("no input came with the request")),
    };
    let mut shell = Command::new("/bin/sh");
    ESCAPE_VARIABLES.iter().for_each(|name| {
        shell.env_remove(name);
    });
    let shell = shell
        .args(["-c", &request.command])
        .current_dir(&request.directory)
        .env("TMPDIR", temp(confinement))
        .env(IN_SANDBOX_VARIABLE, "1")
        .stdin(stdin)
        .spawn()?;
    let pid = i32::try_from(shell.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("no process id"))
}

/// Returns the path at which the command sees its own temporary folder.
fn temp(confinement: &Confinement) -> &Path {
    match confinement.isolation {
        Isolation::Namespaces | Isolation::Bubblewrap(_) => Path::new("/tmp"),
        Isolation::Landlock | Isolation::Seatbelt => &confinement.temp,
    }
}

#[cfg(target_os = "linux")]
fn confine(confinement: &Confinement) -> io::Result<u8> {
    windlass_sandbox::confine(confinement)
}

/// On other systems the process was started confined.
#[cfg(not(target_os = "linux"))]
fn confine(_: &Confinement) -> io::Result<u8> {
    Ok(0)
}

/// Whether the guard has asked the command to end. The guard writes this before it sends the signal, so a process that
/// ends because of the signal ends afterwards. A signal to this process proves nothing: any process in the sandbox can
/// send one.
fn is_stop_requested(channel: &UnixStream) -> bool {
    let mut byte = [0u8; 1];
    rustix::net::recv(channel, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT).is_ok_and(|(_, read)| read > 0)
}

/// Reaps children until the shell has ended; after a stop request, until no child is left, so that processes that
/// handle the signal get the grace period.
fn await_end(shell: Pid, is_stopping: impl Fn() -> bool) -> GuardReport {
    let mut end = None;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == shell => end = Some(report(status)),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return end.unwrap_or(GuardReport::Failed("its shell was not found".to_owned())),
        }
        if let Some(end) = end.clone()
            && !is_stopping()
        {
            return end;
        }
    }
}

fn report(status: WaitStatus) -> GuardReport {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => GuardReport::Exited(code),
        (None, signal) => GuardReport::Signalled(signal.unwrap_or(rustix::process::Signal::KILL.as_raw())),
    }
}
