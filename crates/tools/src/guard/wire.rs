//! The messages between Windlass and the guard, one line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use windlass_sandbox::{Confinement, path_wire};

/// The line that asks a guard to stop its command.
pub(crate) const STOP: &str = "stop";

/// The command that a guard runs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GuardRequest {
    /// The command line, for `sh -c`.
    pub(crate) command: String,
    /// Its working directory.
    pub(crate) directory: PathBuf,
    /// The lock file that shows that the command may be running; `None` for a program that belongs to no call.
    #[serde(default)]
    pub(crate) lock: Option<PathBuf>,
    /// How long a stopped command may take to end by itself before it is killed, in milliseconds.
    pub(crate) grace_ms: u64,
    /// Its standard input.
    #[serde(default)]
    pub(crate) input: Stdin,
    /// The sandbox limits, if it runs in the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confinement: Option<Confinement>,
}

/// The standard input of a guarded command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stdin {
    /// Nothing.
    #[default]
    Nothing,
    /// The descriptor that was sent with the request; its first line lets the waiting shell start the program.
    Passed,
}

/// What the cleanup did about files that a command may not create, remove or replace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanupReport {
    /// The new names of files that were set aside.
    #[serde(with = "path_wire::list")]
    pub set_aside: Vec<PathBuf>,
    /// Symlinks that were restored.
    #[serde(with = "path_wire::list")]
    pub put_back: Vec<PathBuf>,
    /// Paths that could not be set aside or restored, with the error.
    pub left: Vec<(PathBuf, String)>,
}

/// A report of the guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GuardReport {
    /// The shell runs; its process id is also its group's id.
    Started(i32),
    /// A command in the sandbox has ended; its end follows.
    Confined {
        /// The version of Landlock that confined it; 0 if none.
        landlock: u8,
        /// What the cleanup did about files that it may not leave behind.
        cleanup: CleanupReport,
    },
    /// It could not be started.
    Failed(String),
    /// It was not started, because the kernel does not allow the requested confinement.
    KernelRefused(String),
    /// It exited with this code, and no process that it started is left.
    Exited(i32),
    /// A signal ended it, and no process that it started is left.
    Signalled(i32),
}
