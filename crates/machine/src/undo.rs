//! Saves files before a call changes them, and restores them (T9).
//!
//! For a started call that needs a snapshot, the snapshot is outstanding first; only when it is recorded is the call
//! outstanding. So a call without its snapshot has certainly not run. An undo is two records: `UndoStarted`, with the
//! states before it, and `Undone`. In between the restore is outstanding, in whichever process opens the session.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{
    Changes, FileState, FilesChanged, SnapshotTaken, ToolName, UndoId, UndoStarted, Undoable, Undone,
};

use crate::control::Run;
use crate::draft::Draft;
use crate::snapshot_state::SnapshotState;
use crate::texts;

/// An undo that may start: the files that it would restore were inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedUndo {
    /// What it undoes.
    pub of: Undoable,
    /// The tool, where it undoes a call.
    pub tool: Option<ToolName>,
    /// The present and the restored state of each path.
    pub changes: Changes,
    /// Paths that can't be restored, and why.
    pub unable: BTreeMap<String, String>,
}

/// Returns the changes as they are recorded: with inodes only where an object was moved.
pub(crate) fn settled(mut changes: Changes) -> Changes {
    let otherwise = || changes.values().filter(|change| change.was.inode() != change.now.inode());
    let mut arrived: BTreeMap<u64, Vec<&FileState>> = BTreeMap::new();
    for change in otherwise() {
        change.now.inode().into_iter().for_each(|inode| arrived.entry(inode).or_default().push(&change.now));
    }
    // An equal inode alone proves little: it may have been reused as soon as it was free.
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
    /// Records the snapshot, so that the call may run now.
    pub(crate) fn snapshot_taken(&mut self, taken: SnapshotTaken) {
        let calls = self.run().map(Run::calls).unwrap_or_default();
        let awaits = calls.iter().any(|call| call.request.call == taken.call && call.kept == SnapshotState::Missing);
        if awaits {
            self.push(taken);
        }
    }

    /// Records the file changes of a call that was stopped before it could report them.
    pub(crate) fn files_changed(&mut self, changed: FilesChanged) {
        self.push(FilesChanged { changes: settled(changed.changes), ..changed });
    }

    /// Starts an undo, unless a run or another undo is open.
    pub(crate) fn undo(&mut self, asked: CheckedUndo) {
        if self.control.opened.is_none() || self.run().is_some() || self.control.undo.is_some() {
            return;
        }
        let CheckedUndo { of, tool, changes, unable } = asked;
        let undo = UndoId(self.control.undos + 1);
        self.push(UndoStarted { undo, of, tool, changes: settled(changes), unable });
    }

    /// Records that the files are restored, except those that somebody else changed meanwhile.
    pub(crate) fn restored(&mut self, undo: UndoId, left_alone: BTreeMap<String, String>) {
        let Some(started) = self.control.undo.clone().filter(|started| started.undo == undo) else { return };
        let told = texts::undone(&started, &left_alone);
        self.push(Undone { undo, left_alone, told });
    }

    /// Ends an undo in progress with every file left alone, for the reason `why`.
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

    // proves T9: a reused inode is not a move
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
