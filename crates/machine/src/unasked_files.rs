//! Files that the scripts of a run changed or deleted though nobody asked for it (X4), as the records tell: those that were
//! restored, and those that could not be.

use std::collections::BTreeMap;

use windlass_vocab::{CallId, FilesChanged, RunChanges, first_paths};

/// The most files of each kind that the model is told of.
const NAMED: usize = 5;

/// The files that a run's scripts changed unasked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnaskedFiles {
    restored: BTreeMap<String, CallId>,
    lost: BTreeMap<String, (CallId, String)>,
}

impl UnaskedFiles {
    /// Adds what a call did.
    pub(crate) fn add(&mut self, changed: &FilesChanged) {
        self.restored.extend(changed.restored.iter().map(|path| (path.clone(), changed.call)));
        let lost = changed.lost.iter();
        self.lost.extend(lost.map(|(path, why)| (path.clone(), (changed.call, why.clone()))));
    }

    /// Whether a call that reported this has something to add.
    pub(crate) fn has(changed: &FilesChanged) -> bool {
        !changed.restored.is_empty() || !changed.lost.is_empty()
    }

    /// Returns what a run did, with these files.
    pub(crate) fn listed_in(&self, changes: Option<RunChanges>) -> Option<RunChanges> {
        if self.restored.is_empty() && self.lost.is_empty() {
            return changes;
        }
        Some(RunChanges {
            restored: self.restored.keys().cloned().collect(),
            lost: self.lost.iter().map(|(path, (_, why))| (path.clone(), why.clone())).collect(),
            ..changes.unwrap_or_default()
        })
    }

    /// Returns what the model is told of a call whose result nobody saw; empty where it changed nothing unasked.
    pub(crate) fn told_of(&self, call: CallId) -> String {
        let restored = first_paths(self.restored.iter().filter(|(_, by)| **by == call).map(|(path, _)| path), NAMED);
        let lost = first_paths(self.lost.iter().filter(|(_, (by, _))| *by == call).map(|(path, _)| path), NAMED);
        let restored = restored.map(|paths| {
            format!(" It had changed or deleted {paths}, which the request does not ask for: that is as before again.")
        });
        let lost = lost.map(|paths| format!(" It changed or deleted {paths}, which the request does not ask for."));
        [restored, lost].into_iter().flatten().collect()
    }
}
