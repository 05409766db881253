//! Puts the first process of a sandbox into its own namespaces. The guard forks while it has no other threads: starting
//! its program anew would take longer than everything else.
//!
//! A process can't enter a new PID namespace, only its children are born in one. So there are two forks: the guard's
//! child creates the namespaces and stays between the guard and its own child, which is the first process in them. Each
//! dies with its parent.

use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;

use fork::Fork;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_parent_process_death_signal, setpgid, waitpid,
};
use windlass_sandbox::Network;

use super::confined::{FirstProcess, ForkRole, KernelRefused};
use super::first_process::report_refusal;

/// Starts the first process of a sandbox. The caller must have no other threads.
pub(super) fn start(network: Network) -> io::Result<ForkRole> {
    let (ours, theirs) = UnixStream::pair()?;
    match fork::fork()? {
        Fork::Parent(pid) => {
            let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process id"))?;
            // The child does this too; whichever is first, the group exists before it has to be killed.
            let _ = setpgid(Some(pid), None);
            Ok(ForkRole::Guard(Some(FirstProcess { pid, channel: ours })))
        }
        Fork::Child => {
            drop(ours);
            match enter(network) {
                Ok(Fork::Child) => Ok(ForkRole::FirstProcess(theirs)),
                Ok(Fork::Parent(pid)) => {
                    drop(theirs);
                    end_like(pid)
                }
                Err(error) => {
                    report_refusal(&theirs, &KernelRefused::by_kernel(error));
                    Ok(ForkRole::Between)
                }
            }
        }
    }
}

/// Creates the namespaces, and the process that is born in them.
fn enter(network: Network) -> io::Result<Fork> {
    setpgid(None, None)?;
    // Close this copy of the lifeline (standard input): its end shows Windlass that the guard is gone.
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    windlass_sandbox::enter_namespaces(network)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    fork::fork()
}

/// Waits for the first process and ends with the same status, so that the guard sees if it was killed.
fn end_like(pid: i32) -> io::Result<ForkRole> {
    loop {
        match waitpid(Pid::from_raw(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return end_with(status),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn end_with(status: WaitStatus) -> io::Result<ForkRole> {
    match status.exit_status() {
        Some(code) => std::process::exit(code),
        None => {
            kill_process(getpid(), Signal::KILL)?;
            Ok(ForkRole::Between)
        }
    }
}
