//! The guard: a small process between Windlass and each command, so that a command and everything
//! it started die with a stop, a time limit, or the death of Windlass itself (T7).
//!
//! The protocol. Windlass makes a lock file for the call, then starts the guard with one end of a
//! socket pair as its standard input, the *lifeline*, and writes a [`wire::GuardRequest`] to it. The guard
//!
//! 1. locks the file, which must still be there: whoever resumes the session removes lock files
//!    nobody holds, and a guard that comes too late then finds none and starts nothing;
//! 2. leaves the terminal's session, and becomes the reaper of all its descendants;
//! 3. starts `sh -c` in a process group of its own, its output going straight to Windlass;
//! 4. waits for the shell to end, a `stop` on the lifeline, or the lifeline's end;
//! 5. kills what is left (whoever left the group, doubly forked or not, is still a descendant),
//!    reports how the shell ended, removes the lock file and exits.
//!
//! A command in the sandbox (X3) is started by the sandbox's first process instead, which the guard starts, forking where
//! it can, and which tells it how the command ended; the guard stays outside, and sets aside what may not be left.
//!
//! A program that belongs to no call, and is talked to ([`GuardedChild`]), has no lock file, and reads
//! a pipe that came with the request.
//!
//! On systems without reapers of descendants only the process group is killed.

mod child;
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

/// The first file handle that is no standard stream.
const FIRST_INHERITED: i32 = 3;

/// The guard process: what a program does when it is started as [`crate::GuardProgram`] says.
/// Needs no runtime and should be the first thing `main` does.
#[must_use]
pub fn run() -> ExitCode {
    // What whoever started Windlass had left open is not the command's: it would be a way past the sandbox.
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
