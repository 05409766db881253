//! Keeping files before a call changes them, and putting them back (T9).
//!
//! A started call that keeps files owes its snapshot first; only when that is recorded is the call owed.
//! So a call without its snapshot has certainly not run. An undo is two records: `UndoStarted`, with what
//! stood there before it, and `Undone`. In between the restoring is owed, whoever opens the session.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{
    Changes, FileState, FilesChanged, SnapshotTaken, ToolName, UndoId, UndoStarted, Undoable, Undone,
};

use crate::control::Run;
use crate::draft::Draft;
use crate::snapshot_state::SnapshotState;
use crate::texts;

/// An undo that may begin: what would be put back was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedUndo {
    /// What is undone.
    pub of: Undoable,
    /// The tool whose call it is.
    pub tool: Option<ToolName>,
    /// What each path is, and what it will be.
    pub changes: Changes,
    /// What can't be put back, and why.
    pub unable: BTreeMap<String, String>,
}

/// Changes as they are recorded: which thing it is matters only where one was moved.
pub(crate) fn settled(mut changes: Changes) -> Changes {
    let otherwise = || changes.values().filter(|change| change.was.inode() != change.now.inode());
    let mut arrived: BTreeMap<u64, Vec<&FileState>> = BTreeMap::new();
    for change in otherwise() {
        change.now.inode().into_iter().for_each(|inode| arrived.entry(inode).or_default().push(&change.now));
    }
    // A number alone says little: another thing may have got it as soon as it was free.
    let is_moved =
        |was: &FileState, inode| arrived.get(&inode).is_some_and(|all| all.iter().any(|now| was.is_same_thing(now)));
    let moved: BTreeSet<u64> =
        otherwise().filter_map(|change| change.was.inode().filter(|inode| is_moved(&change.was, *inode))).collect();
    let plain = |state: &mut FileState| {
        if state.inode().is_some_and(|inode| !moved.contains(&inode)) {
            *state = state.clone().without_inode();
        }
    };
    for change in changes.values_mut() {
        plain(&mut change.was);
        plain(&mut change.now);
    }
    changes
}

impl Draft<'_> {
    /// The files are kept, so the call may run now.
    pub(crate) fn snapshot_taken(&mut self, taken: SnapshotTaken) {
        let calls = self.run().map(Run::calls).unwrap_or_default();
        let awaits = calls.iter().any(|call| call.request.call == taken.call && call.kept == SnapshotState::Missing);
        if awaits {
            self.push(taken);
        }
    }

    /// What a call changed that was stopped before it could say so.
    pub(crate) fn files_changed(&mut self, changed: FilesChanged) {
        self.push(FilesChanged { changes: settled(changed.changes), ..changed });
    }

    /// Begins to put files back; nothing else may be under way.
    pub(crate) fn undo(&mut self, asked: CheckedUndo) {
        if self.control.opened.is_none() || self.run().is_some() || self.control.undo.is_some() {
            return;
        }
        let CheckedUndo { of, tool, changes, unable } = asked;
        let undo = UndoId(self.control.undos + 1);
        self.push(UndoStarted { undo, of, tool, changes: settled(changes), unable });
    }

    /// The files are put back, but for those somebody else changed meanwhile.
    pub(crate) fn restored(&mut self, undo: UndoId, left_alone: BTreeMap<String, String>) {
        let Some(started) = self.control.undo.clone().filter(|started| started.undo == undo) else { return };
        let told = texts::undone(&started, &left_alone);
        self.push(Undone { undo, left_alone, told });
    }

    /// Ends an undo that was under way with every file left alone, because of this.
    pub(crate) fn leave_undo(&mut self, why: &str) {
        if let Some(started) = self.control.undo.clone() {
            let left = started.changes.keys().map(|path| (path.clone(), why.to_owned()));
            self.restored(started.undo, left.collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Change, Changes, FileState, Hash};

    use super::settled;

    // proves T9: a number that was free and taken again is no move
    #[test]
    fn a_thing_was_moved_only_if_the_same_thing_is_elsewhere() {
        let file = |content| FileState::File { blob: Hash([content; 32]), mode: 0o644, inode: Some(7) };
        let folder = FileState::Folder { mode: 0o755, inode: Some(7) };
        let between = |was: &FileState, now: &FileState| {
            let went = Change { was: was.clone(), now: FileState::Absent };
            let came = Change { was: FileState::Absent, now: now.clone() };
            let changes = settled(Changes::from([("a".to_owned(), went), ("b".to_owned(), came)]));
            (changes["a"].was.inode(), changes["b"].now.inode())
        };
        assert_eq!(between(&file(1), &file(1)), (Some(7), Some(7)));
        assert_eq!(between(&folder, &folder), (Some(7), Some(7)));
        assert_eq!(between(&file(1), &file(2)), (None, None));
        assert_eq!(between(&file(1), &folder), (None, None));
        assert_eq!(between(&folder, &file(1)), (None, None));
    }
}
