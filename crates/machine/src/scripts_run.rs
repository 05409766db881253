//! Which scripts of a run would bring the same again (L11).

use std::collections::BTreeSet;

use windlass_vocab::{CallFinished, CallRequested, OutcomeKind, SnapshotKind};

/// The most scripts that are remembered.
const KEPT: usize = 100;

/// The scripts that would bring the same again, by the hashes of their requests: since they ran, no file was changed, except by
/// the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptsRun {
    requests: BTreeSet<u64>,
}

impl ScriptsRun {
    /// Adds a script that ran to its end.
    pub(crate) fn call_finished(&mut self, asked: u64, request: &CallRequested, finished: &CallFinished) {
        let has_run = matches!(finished.outcome, OutcomeKind::Ok | OutcomeKind::ToolError | OutcomeKind::TimedOut);
        if request.snapshot == SnapshotKind::Workspace && has_run && self.requests.len() < KEPT {
            self.requests.insert(asked);
        }
    }

    /// Files were changed, by this request if it is known: other scripts may bring something else now.
    pub(crate) fn files_changed(&mut self, by: Option<u64>) {
        self.requests.clear();
        self.requests.extend(by);
    }

    /// Files may have changed unobserved, or a person said something.
    pub(crate) fn forget(&mut self) {
        self.requests.clear();
    }

    pub(crate) fn has(&self, asked: u64) -> bool {
        self.requests.contains(&asked)
    }
}
