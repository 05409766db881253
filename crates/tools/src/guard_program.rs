//! Which program is started as the guard of a command.

use std::path::PathBuf;

/// The program to start as guard: one whose `main` calls [`crate::guard::run`] when it is given
/// these arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardProgram {
    /// The program.
    pub program: PathBuf,
    /// What tells it to be a guard.
    pub args: Vec<String>,
}
