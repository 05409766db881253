//! The guard: a small process between Windlass and each command, so that a command and everything
//! it started die with a stop, a time limit, or the death of Windlass itself (T7).
//!
//! The protocol: Windlass creates a lock file for the call, starts the guard with one end of a socket pair (the
//! *lifeline*) as its standard input, and writes a [`wire::GuardRequest`] to it. The guard
//!
//! 1. locks the file, which must still exist: a process that resumes the session removes lock files that
//!    nobody has locked, and a guard that starts too late finds no file and starts nothing;
//! 2. leaves the terminal's session, and becomes the subreaper of all its descendants;
//! 3. starts `sh -c` in a process group of its own, its output going straight to Windlass;
//! 4. waits for the shell to end, a `stop` on the lifeline, or the lifeline's end;
//! 5. kills the remaining processes (one that left the group, by a double fork or otherwise, is still a
//!    descendant), reports how the shell ended, removes the lock file and exits.
//!
//! A command in the sandbox (X3) is started by the sandbox's first process instead. The guard starts that process (by a
//! fork where possible) and receives from it how the command ended. The guard stays outside the sandbox and sets aside
//! files that the command may not leave behind.
//!
//! An interactive program that belongs to no call ([`GuardedChild`]) has no lock file, and reads from a pipe that is
//! passed with the request.
//!
//! Systems without subreapers kill only the process group.

pub(crate) mod child;
mod cleanup;
mod confined;
mod descendants;
mod first_process;
mod handover;
mod in_terminal;
#[cfg(target_os = "linux")]
mod namespaces;
mod process;
mod support;
mod survivors;
pub(crate) mod wire;
mod writable_folders;

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

pub use child::{ChildEnd, GuardedChild, GuardedProgram, Lifeline};
pub use in_terminal::run_in_terminal;
pub(crate) use support::fresh_temp;
pub use support::probe_support;
pub use survivors::{SurvivorsError, wait_for_survivors};
pub(crate) use survivors::{lock_path, temp_path};
pub use wire::CleanupReport;

/// The lowest file descriptor that is not a standard stream.
const FIRST_INHERITED: i32 = 3;

/// The main function of the guard process, for a program that is started as a [`crate::GuardProgram`]. Needs no async
/// runtime and should be the first call in `main`.
#[must_use]
pub fn run() -> ExitCode {
    // Descriptors that Windlass inherited must not reach the command: they would bypass the sandbox.
    close_fds::set_fds_cloexec(FIRST_INHERITED, &[]);
    let channel = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    if std::env::args_os().next_back().is_some_and(|word| word == confined::FIRST_PROCESS) {
        return exit_code(channel.and_then(|channel| first_process::run(&channel)));
    }
    exit_code(channel.and_then(process::serve))
}

fn exit_code(work: std::io::Result<()>) -> ExitCode {
    match work {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("The guard could not do its work: {error}. It is started by Windlass, not by hand.");
            ExitCode::FAILURE
        }
    }
}
