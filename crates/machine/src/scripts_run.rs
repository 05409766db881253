//! Which scripts of a run would bring the same again (L11), and what they brought.

use std::collections::BTreeMap;

use windlass_vocab::{CallFinished, CallRequested, OutcomeKind, SnapshotKind};

/// The most scripts that are remembered, and the characters of each result: its end, where errors are.
const KEPT: usize = 100;
const RESULT_CHARS: usize = 400;

/// The scripts that ran since files were last changed, by the hashes of their requests, with their results; and the one that
/// changed them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptsRun {
    results: BTreeMap<u64, String>,
    changer: Option<u64>,
}

impl ScriptsRun {
    /// Adds a script that ran to its end. What came from outside is not kept: whoever is told of it would not know that.
    pub(crate) fn call_finished(&mut self, asked: u64, request: &CallRequested, finished: &CallFinished) {
        let has_run = matches!(finished.outcome, OutcomeKind::Ok | OutcomeKind::ToolError | OutcomeKind::TimedOut);
        if request.snapshot != SnapshotKind::Workspace || !has_run || self.results.len() >= KEPT {
            return;
        }
        let text = if finished.origin.is_some() { "" } else { finished.text.trim_end() };
        let cut = text.char_indices().rev().nth(RESULT_CHARS - 1).map_or(0, |(place, _)| place);
        self.results.insert(asked, text[cut..].to_owned());
    }

    /// Files were changed, by this request if it is known: other scripts may bring something else now.
    pub(crate) fn files_changed(&mut self, by: Option<u64>) {
        self.results.clear();
        self.changer = by;
    }

    /// Files may have changed unobserved, or a person said something.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns what a script brought, if it ran and nothing has changed since.
    pub(crate) fn result(&self, asked: u64) -> Option<&str> {
        self.results.get(&asked).map(String::as_str)
    }

    /// Whether this script made the last change.
    pub(crate) fn has_changed(&self, asked: u64) -> bool {
        self.changer == Some(asked)
    }
}
