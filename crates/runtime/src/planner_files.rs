//! The files of the workspace when the planner was asked (S3), which the patterns in its reply are compared with.

use windlass_machine::ListedFiles;
use windlass_vocab::{RunId, TurnId};

/// The files of the workspace when the planner was asked.
#[derive(Debug, Default)]
pub(crate) struct PlannerFiles {
    /// The turn they were listed for.
    pub(crate) turn: Option<(RunId, TurnId)>,
    pub(crate) files: ListedFiles,
}
