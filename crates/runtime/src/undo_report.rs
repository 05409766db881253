//! What an undo is asked for, what it did, and why it did nothing.

use std::collections::BTreeMap;

use windlass_machine::{Conflict, Force};
use windlass_store::StoreError;
use windlass_vocab::{CallId, Changes, Coverage, ToolName, UndoId, UndoStarted, Undoable};

use crate::closed::SessionClosed;

/// Whether it is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndoMode {
    /// It is done.
    #[default]
    Apply,
    /// It is only said what would be done.
    DryRun,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UndoRequest {
    /// What to undo; the last call not yet undone that changed files, unless said.
    pub of: Option<Undoable>,
    /// Whether to replace what somebody changed since.
    pub force: Force,
    /// Whether it is meant.
    pub mode: UndoMode,
}

/// What an undo did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoReport {
    /// What it undid.
    pub of: Undoable,
    /// The tool whose call it is.
    pub tool: Option<ToolName>,
    /// Its own name; none for a rehearsal.
    pub undo: Option<UndoId>,
    /// What became of each path.
    pub restored: Changes,
    /// Paths that were left as they are, and why.
    pub left_alone: BTreeMap<String, String>,
    /// How much of what the call may have changed was kept.
    pub coverage: Coverage,
    /// What else it may have changed, unseen.
    pub unseen: Option<String>,
    /// Later calls that can't be undone.
    pub uncovered: Vec<(CallId, ToolName)>,
}

/// A path that is not as the call left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoConflict {
    /// What stands in the way.
    pub conflict: Conflict,
    /// The later call or undo that made it what it is, where one did.
    pub since: Option<Undoable>,
    /// What putting it back would change, for people.
    pub diff: String,
}

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The session's driver is gone.
    #[error(transparent)]
    Closed(#[from] SessionClosed),
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run works on the files.
    #[error("a run of this session is not over: stop it or let it finish, then undo")]
    RunOpen,
    /// There are no files here.
    #[error("this session has no workspace, so there are no files to put back")]
    NoWorkspace,
    /// The journal can't be written here.
    #[error("this session was written by a newer version of Windlass: undo with that version")]
    Newer,
    /// No call changed a file.
    #[error("there is nothing to undo: no call of this session changed a file that is not undone already")]
    Nothing,
    /// No such call, or undo.
    #[error("there is no {what} {of} in this session", what = .0.kind(), of = .0)]
    NoSuch(Undoable),
    /// It did nothing to files.
    #[error("{what} {of} changed no files that are known, so there is nothing to undo", what = .0.kind(), of = .0)]
    Unchanged(Undoable),
    /// It is undone already.
    #[error("{of} is undone already, by {by}; bring it back by undoing {by}")]
    TakenBack {
        /// What.
        of: Undoable,
        /// By which undo.
        by: UndoId,
    },
    /// A rule forbids changing one of its files.
    #[error(
        "nothing was undone: it would change {path}, which the rule `{rule}` forbids; take that rule away to undo it"
    )]
    Forbidden {
        /// The file.
        path: String,
        /// The rule.
        rule: String,
    },
    /// Files were changed since.
    #[error("{} of its files can't simply be put back, so none was", .0.len())]
    Conflicts(Vec<UndoConflict>),
}

impl UndoReport {
    /// Of an undo that somebody else began.
    pub(crate) fn of(started: &UndoStarted) -> Self {
        Self {
            of: started.of,
            tool: started.tool.clone(),
            undo: Some(started.undo),
            restored: started.changes.clone(),
            left_alone: started.unable.clone(),
            coverage: Coverage::Full,
            unseen: None,
            uncovered: Vec::new(),
        }
    }

    /// Takes in what was left alone in the end.
    pub(crate) fn finished(&mut self, left_alone: BTreeMap<String, String>) {
        self.restored.retain(|path, _| !left_alone.contains_key(path));
        self.left_alone.extend(left_alone);
    }
}
