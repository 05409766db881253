//! The program that is started as the guard of a command.

use std::path::PathBuf;

/// The program to start as guard: one whose `main` calls [`crate::guard::run`] when it is given
/// these arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardProgram {
    /// The program.
    pub program: PathBuf,
    /// The arguments that make it run as a guard.
    pub args: Vec<String>,
}
