//! The guard process. It has no async runtime: one thread listens to the lifeline, one reaps, one decides.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::cleanup::Cleanup;
use super::confined::{self, FirstProcess, FirstProcessReplies, ForkRole, KernelRefused};
use super::handover::{self, ReceivedRequest};
use super::wire::{GuardReport, GuardRequest, STOP, Stdin};
use super::writable_folders::WritableFolders;
use super::{descendants, first_process};

/// The process name that `ps` displays.
const NAME: &CStr = c"command-guard";
/// The interval at which remaining processes are killed again.
const ROUND: Duration = Duration::from_millis(5);

/// An event that the guard waits for.
enum GuardEvent {
    /// Windlass wants the command stopped.
    Stop,
    /// Windlass is gone: the lifeline was closed.
    Gone,
    /// A descendant ended.
    Reaped(Pid, WaitStatus),
    /// The last descendant ended.
    LastReaped(Pid, WaitStatus),
    /// No descendant is left.
    NoneLeft,
}

/// Serves the one request that arrives over `lifeline`.
pub(super) fn serve(lifeline: UnixStream) -> io::Result<()> {
    let Some(received) = handover::receive(&lifeline)? else {
        return Ok(());
    };
    let request: GuardRequest = serde_json::from_slice(&received.line)?;
    detach_from_terminal()?;
    // Before any thread starts.
    let first = match confined::fork(&request) {
        Ok(ForkRole::Guard(first)) => Ok(first),
        Ok(ForkRole::FirstProcess(channel)) => {
            drop((lifeline, received));
            return first_process::run(&channel);
        }
        Ok(ForkRole::Between) => return Ok(()),
        Err(error) => Err(error),
    };
    guard(&request, received, first, &lifeline)
}

/// Starts the command, in the sandbox by the first process if that is forked already, and waits for its end.
fn guard(
    request: &GuardRequest,
    received: ReceivedRequest,
    first: io::Result<Option<FirstProcess>>,
    lifeline: &UnixStream,
) -> io::Result<()> {
    let (events, inbox) = channel();
    listen(BufReader::new(io::Cursor::new(received.rest).chain(lifeline.try_clone()?)), events.clone());
    let _lock = match &request.lock {
        Some(lock) => match take_lock(lock, &inbox)? {
            Some(file) => Some(file),
            None => return Ok(()),
        },
        None => None,
    };
    descendants::adopt()?;
    if is_gone(lifeline) {
        return unlock(request);
    }
    // Opened before the command starts: the command may replace one of these folders later.
    let folders = request.confinement.as_ref().map(|confinement| WritableFolders::open(&confinement.writable));
    let report = match first.and_then(|first| start(request, first, received.input, lifeline)) {
        Ok((shell, replies)) => {
            reap(events);
            let grace = Duration::from_millis(request.grace_ms);
            let held = request.confinement.as_ref().zip(folders);
            let cleanup = held.and_then(|(confinement, folders)| Cleanup::prepare(confinement, folders));
            let report =
                ShellWatch { shell, grace, inbox, first: replies.as_ref(), status: None, empty: false }.finish();
            finish_sandboxed(request, replies, report, cleanup.as_ref(), lifeline)
        }
        Err(error) => {
            request.confinement.as_ref().map(confined::remove_temp);
            KernelRefused::report(&error)
        }
    };
    unlock(request)?;
    send_report(lifeline, &report);
    Ok(())
}

fn unlock(request: &GuardRequest) -> io::Result<()> {
    request.lock.as_ref().map_or(Ok(()), std::fs::remove_file)
}

/// Makes the guard end only with the lifeline: not with the terminal, whose session it leaves, and not by a signal that
/// is sent to Windlass by process name (`pkill`). Signals are caught, not ignored, because the shell would inherit
/// ignored ones.
fn detach_from_terminal() -> io::Result<()> {
    // Fails only for a process group leader, which has left its terminal already.
    let _ = rustix::process::setsid();
    rustix::thread::set_name(NAME)?;
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}

/// Locks the call's file. Returns `None` if the file is gone, or Windlass is.
fn take_lock(lock: &Path, inbox: &Receiver<GuardEvent>) -> io::Result<Option<File>> {
    let file = match File::options().read(true).write(true).open(lock) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    while let Err(refusal) = file.try_lock() {
        match refusal {
            std::fs::TryLockError::Error(error) => return Err(error),
            std::fs::TryLockError::WouldBlock => match inbox.recv_timeout(ROUND) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
            },
        }
    }
    let removed = file.metadata()?.nlink() == 0;
    (&file).write_all(format!("{}\n", std::process::id()).as_bytes())?;
    Ok((!removed).then_some(file))
}

/// Whether Windlass has closed its end.
fn is_gone(lifeline: &UnixStream) -> bool {
    let mut byte = [0u8; 1];
    matches!(rustix::net::recv(lifeline, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT), Ok((_, 0)))
}

/// The shell waits at this `read` until Windlass knows its process id, so that Windlass can kill a command that kills
/// its guard. If the guard dies earlier, `read` fails at end of file and the shell exits.
const GATE: &str = r#"read -r gate && exec /bin/sh -c "$1" </dev/null"#;

/// An interactive program keeps the shell's input and reads what follows the first line, which Windlass writes.
const TALKING_GATE: &str = r#"read -r gate && exec /bin/sh -c "$1""#;

/// Takes the command's end from the first process of the sandbox, and cleans up after the command.
fn finish_sandboxed(
    request: &GuardRequest,
    replies: Option<FirstProcessReplies>,
    report: GuardReport,
    cleanup: Option<&Cleanup<'_>>,
    lifeline: &UnixStream,
) -> GuardReport {
    let (Some(confinement), Some(replies)) = (&request.confinement, replies) else { return report };
    let (landlock, end) = replies.read();
    confined::remove_temp(confinement);
    let cleanup = cleanup.map(Cleanup::clean_up).unwrap_or_default();
    if let Some(landlock) = landlock {
        send_report(lifeline, &GuardReport::Confined { landlock, cleanup });
    }
    end.unwrap_or(report)
}

fn start(
    request: &GuardRequest,
    first: Option<FirstProcess>,
    input: Option<OwnedFd>,
    lifeline: &UnixStream,
) -> io::Result<(Pid, Option<FirstProcessReplies>)> {
    if let Some(confinement) = &request.confinement {
        confined::make_temp(confinement)?;
        let mut first = first.map_or_else(|| FirstProcess::start(confinement), Ok)?;
        send_report(lifeline, &GuardReport::Started(first.pid.as_raw_nonzero().get()));
        return Ok((first.pid, Some(first.hand_over(request, input.as_ref())?)));
    }
    let (gate, stdin) = match (request.input, input) {
        (Stdin::Nothing, _) => (GATE, Stdio::piped()),
        (Stdin::Passed, Some(input)) => (TALKING_GATE, Stdio::from(input)),
        (Stdin::Passed, None) => return Err(io::Error::other("no input came with the request")),
    };
    let mut shell = Command::new("/bin/sh")
        .args(["-c", gate, "sh", &request.command])
        .current_dir(&request.directory)
        .stdin(stdin)
        .process_group(0)
        .spawn()?;
    let pid = confined::pid_of(&shell)?;
    send_report(lifeline, &GuardReport::Started(pid.as_raw_nonzero().get()));
    if let Some(mut gate) = shell.stdin.take() {
        // If the shell is gone, its end is reported.
        let _ = gate.write_all(b"\n");
    }
    Ok((pid, None))
}

/// Sends `report`. Ignores errors: Windlass may be gone.
fn send_report(mut lifeline: &UnixStream, report: &GuardReport) {
    let line = serde_json::to_string(report).unwrap_or_default() + "\n";
    let _ = lifeline.write_all(line.as_bytes());
}

fn listen(mut reader: impl BufRead + Send + 'static, events: Sender<GuardEvent>) {
    thread::spawn(move || {
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            if line.trim() == STOP && events.send(GuardEvent::Stop).is_err() {
                return;
            }
            line.clear();
        }
        // If the receiver is gone, the guard is about to exit.
        let _ = events.send(GuardEvent::Gone);
    });
}

fn reap(events: Sender<GuardEvent>) {
    thread::spawn(move || {
        loop {
            let event = match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if descendants::CAN_BE_FOUND && is_childless() => {
                    GuardEvent::LastReaped(pid, status)
                }
                Ok(Some((pid, status))) => GuardEvent::Reaped(pid, status),
                Ok(None) | Err(rustix::io::Errno::INTR) => continue,
                Err(_) => GuardEvent::NoneLeft,
            };
            let last = matches!(event, GuardEvent::NoneLeft | GuardEvent::LastReaped(_, _));
            if events.send(event).is_err() || last {
                return;
            }
        }
    });
}

/// Whether this process has no child, dead or alive. The result is sent together with the last child's end; otherwise
/// the guard would scan all processes of the machine for remaining ones, which takes milliseconds. On systems that
/// don't adopt orphans it says nothing about them: the group must be killed.
fn is_childless() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, options), Err(rustix::io::Errno::CHILD))
}

/// Waits for a running shell.
struct ShellWatch<'f> {
    shell: Pid,
    grace: Duration,
    inbox: Receiver<GuardEvent>,
    /// The first process of its sandbox, which on a stop waits for the other processes too.
    first: Option<&'f FirstProcessReplies>,
    /// How the shell ended, or `None` while it runs.
    status: Option<WaitStatus>,
    /// Whether no descendant is left.
    empty: bool,
}

impl ShellWatch<'_> {
    /// Waits until the shell ends or must be stopped, then kills all remaining processes.
    fn finish(mut self) -> GuardReport {
        while self.status.is_none() && !self.empty {
            match self.inbox.recv() {
                Ok(GuardEvent::Stop) => {
                    self.ask_to_end();
                    break;
                }
                Ok(GuardEvent::Gone) | Err(_) => break,
                Ok(event @ (GuardEvent::Reaped(_, _) | GuardEvent::LastReaped(_, _) | GuardEvent::NoneLeft)) => {
                    self.note(&event);
                }
            }
        }
        self.kill_the_rest();
        match self.status.map(|status| (status.exit_status(), status.terminating_signal())) {
            Some((Some(code), _)) => GuardReport::Exited(code),
            Some((None, Some(signal))) => GuardReport::Signalled(signal),
            Some((None, None)) | None => GuardReport::Signalled(Signal::KILL.as_raw()),
        }
    }

    fn note(&mut self, event: &GuardEvent) {
        if let GuardEvent::Reaped(pid, status) | GuardEvent::LastReaped(pid, status) = event
            && *pid == self.shell
        {
            self.status = Some(*status);
        }
        self.empty |= matches!(event, GuardEvent::LastReaped(_, _) | GuardEvent::NoneLeft);
    }

    /// Sends SIGTERM and waits for the grace period, which ends early if Windlass dies.
    fn ask_to_end(&mut self) {
        self.first.into_iter().for_each(FirstProcessReplies::announce_stop);
        let _ = kill_process_group(self.shell, Signal::TERM);
        self.wait_for_emptiness(self.grace);
    }

    /// Kills until no descendant is left. Processes forked meanwhile are killed in the next round.
    fn kill_the_rest(&mut self) {
        self.wait_for_emptiness(Duration::ZERO);
        while !self.empty {
            // Until the shell is reaped its process id can't be reused.
            if self.status.is_none() || !descendants::CAN_BE_FOUND {
                let _ = kill_process_group(self.shell, Signal::KILL);
            }
            descendants::kill_all();
            self.wait_for_emptiness(ROUND);
        }
    }

    fn wait_for_emptiness(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while !self.empty {
            match self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(GuardEvent::Gone) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
                Ok(
                    event @ (GuardEvent::Reaped(_, _)
                    | GuardEvent::LastReaped(_, _)
                    | GuardEvent::NoneLeft
                    | GuardEvent::Stop),
                ) => {
                    self.note(&event);
                }
            }
        }
    }
}
