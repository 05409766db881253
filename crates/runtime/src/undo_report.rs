//! The request for an undo, its report, and its errors.

use std::collections::BTreeMap;

use windlass_machine::{Conflict, Force};
use windlass_store::StoreError;
use windlass_vocab::{CallId, Changes, Coverage, ToolName, UndoId, UndoStarted, Undoable};

use crate::closed::SessionClosed;

/// Whether the undo is carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UndoMode {
    /// Files are restored.
    #[default]
    Apply,
    /// The report only says what would be done.
    DryRun,
}

/// A request for an undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UndoRequest {
    /// What to undo; absent means the last call that changed files and is not undone.
    pub of: Option<Undoable>,
    /// Whether to overwrite later changes.
    pub force: Force,
    /// Whether to carry it out.
    pub mode: UndoMode,
}

/// What an undo did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoReport {
    /// What it undid.
    pub of: Undoable,
    /// The tool, where it undid a call.
    pub tool: Option<ToolName>,
    /// Its id; absent for a dry run.
    pub undo: Option<UndoId>,
    /// The change of each path.
    pub restored: Changes,
    /// Paths that were left as they are, and why.
    pub left_alone: BTreeMap<String, String>,
    /// How much of what the call may have changed was saved.
    pub coverage: Coverage,
    /// What else the call may have changed undetected.
    pub unseen: Option<String>,
    /// Later calls that can't be undone.
    pub uncovered: Vec<(CallId, ToolName)>,
}

/// A path that can't simply be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoConflict {
    /// The path and the obstacle.
    pub conflict: Conflict,
    /// The later call or undo that produced its present state, if any.
    pub since: Option<Undoable>,
    /// What restoring it would change, for people.
    pub diff: String,
}

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The session's driver is gone.
    #[error(transparent)]
    Closed(#[from] SessionClosed),
    /// The store failed or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run of the session is open.
    #[error("a run of this session is not over: stop it or let it finish, then undo")]
    RunOpen,
    /// The session has no workspace.
    #[error("this session has no workspace, so there are no files to put back")]
    NoWorkspace,
    /// A newer version wrote the session, so this one can't write to it.
    #[error("this session was written by a newer version of Windlass: undo with that version")]
    Newer,
    /// No call changed a file that is not undone already.
    #[error("there is nothing to undo: no call of this session changed a file that is not undone already")]
    Nothing,
    /// There is no such call or undo.
    #[error("there is no {what} {of} in this session", what = .0.kind(), of = .0)]
    NoSuch(Undoable),
    /// It changed no files.
    #[error("{what} {of} changed no files that are known, so there is nothing to undo", what = .0.kind(), of = .0)]
    Unchanged(Undoable),
    /// It is undone already.
    #[error("{of} is undone already, by {by}; bring it back by undoing {by}")]
    TakenBack {
        /// The call or undo.
        of: Undoable,
        /// The undo that reversed it.
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
    /// Some paths can't simply be restored, so none was.
    #[error("{} of its files can't simply be put back, so none was", .0.len())]
    Conflicts(Vec<UndoConflict>),
}

impl UndoReport {
    /// Returns the report of an undo that somebody else started.
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

    /// Adds the paths that were left alone in the end.
    pub(crate) fn finished(&mut self, left_alone: BTreeMap<String, String>) {
        self.restored.retain(|path, _| !left_alone.contains_key(path));
        self.left_alone.extend(left_alone);
    }
}
