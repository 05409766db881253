//! What Windlass and the guard say to each other: a line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use windlass_sandbox::{Confinement, path_wire};

/// The line that asks a guard to stop its command.
pub(crate) const STOP: &str = "stop";

/// What a guard is to run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GuardRequest {
    /// The command line, for `sh -c`.
    pub(crate) command: String,
    /// Where.
    pub(crate) directory: PathBuf,
    /// The lock file that says the command may be running; a program that belongs to no call has none.
    #[serde(default)]
    pub(crate) lock: Option<PathBuf>,
    /// How long a stopped command has to end by itself before it is killed.
    pub(crate) grace_ms: u64,
    /// What it reads.
    #[serde(default)]
    pub(crate) input: Stdin,
    /// What it is held to, if to anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confinement: Option<Confinement>,
}

/// What a guarded command reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stdin {
    /// Nothing.
    #[default]
    Nothing,
    /// The descriptor that came with the request, after its first line, which opens the gate.
    Passed,
}

/// What was done about what a command had made, removed or replaced and may not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanupReport {
    /// What was renamed: the names it has now.
    #[serde(with = "path_wire::list")]
    pub set_aside: Vec<PathBuf>,
    /// Links that were put back.
    #[serde(with = "path_wire::list")]
    pub put_back: Vec<PathBuf>,
    /// What is still there, and why.
    pub left: Vec<(PathBuf, String)>,
}

/// What a guard answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GuardReport {
    /// The shell runs, under this process id, which is its group's too.
    Started(i32),
    /// A command in the sandbox has ended; its end follows.
    Confined {
        /// The version of Landlock that held it; 0 is none.
        landlock: u8,
        /// What was done about what it had made and may not.
        cleanup: CleanupReport,
    },
    /// It could not be started.
    Failed(String),
    /// It was not started, for the kernel does not let it be held as it should.
    KernelRefused(String),
    /// It exited with this code, and nothing it started is left.
    Exited(i32),
    /// A signal ended it, and nothing it started is left.
    Signalled(i32),
}
