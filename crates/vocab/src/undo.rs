//! The data for undo (T9): the state of files before a call, what the call changed, and what was restored.
//!
//! A file is identified by its state. Contents are stored beside the journal under their hash, together with the
//! session's first record that names them. Paths are relative to the workspace and contain no symlinks, so that they
//! mean the same later.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CallId, Hash, ParseIdError, ToolName};

/// Which files are saved before a call of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotKind {
    /// None: the tool's effect can't be undone, or there is nothing to undo.
    #[default]
    None,
    /// The paths that the tool names beforehand; it changes no others.
    Paths,
    /// The workspace, within limits: the tool may change anything.
    Workspace,
}

impl SnapshotKind {
    /// Whether no files are saved.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// How much of what a call may change was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Coverage {
    /// All of it.
    Full,
    /// Some of it.
    Partial {
        /// What was left out and why.
        left_out: String,
    },
    /// None of it.
    None {
        /// The reason.
        why: String,
    },
}

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    /// Nothing exists there.
    Absent,
    /// A file with this content and these permissions.
    File {
        /// Its content.
        blob: Hash,
        /// Its permissions.
        mode: u32,
        /// Its inode, where it may be moved: restoring by a move keeps other hard links of the same file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
    },
    /// A symbolic link.
    Link {
        /// The target, as written in the link.
        target: String,
        /// Its inode, where it may be moved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
    },
    /// A folder.
    Folder {
        /// Its permissions.
        mode: u32,
        /// Its inode, where it may be moved as a whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
    },
    /// Something whose content is not saved: too large, containing a secret, or not a regular file.
    Unkept {
        /// Its size in bytes.
        size: u64,
        /// The modification time, in nanoseconds, from the file system.
        modified: i64,
        /// Its inode.
        inode: u64,
    },
}

impl FileState {
    /// The state of a path that can't be reached any more because one of its parent folders became a symlink.
    pub const OUT_OF_REACH: Self = Self::Unkept { size: 0, modified: 0, inode: 0 };

    /// Whether both states are equal, as far as they are known. Files are equal by content and permissions, folders by
    /// inode and permissions.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { blob, mode, .. }, Self::File { blob: other_blob, mode: other_mode, .. }) => {
                blob == other_blob && mode == other_mode
            }
            (Self::Link { target, .. }, Self::Link { target: other_target, .. }) => target == other_target,
            (Self::Folder { mode, inode }, Self::Folder { mode: other_mode, inode: other_inode }) => {
                mode == other_mode && (inode.is_none() || other_inode.is_none() || inode == other_inode)
            }
            (
                Self::Absent | Self::File { .. } | Self::Link { .. } | Self::Folder { .. } | Self::Unkept { .. },
                other,
            ) => self == other,
        }
    }

    /// Whether something exists there.
    #[must_use]
    pub fn exists(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// Returns the permissions, where it has its own and they are known.
    #[must_use]
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Folder { mode, .. } => Some(*mode),
            Self::Absent | Self::Link { .. } | Self::Unkept { .. } => None,
        }
    }

    /// Returns the inode, where it is known.
    #[must_use]
    pub fn inode(&self) -> Option<u64> {
        match self {
            Self::File { inode, .. } | Self::Link { inode, .. } | Self::Folder { inode, .. } => *inode,
            Self::Unkept { inode, .. } => Some(*inode).filter(|_| *self != Self::OUT_OF_REACH),
            Self::Absent => None,
        }
    }

    /// Returns the state without its inode. An `Unkept` keeps it, because nothing else identifies it.
    #[must_use]
    pub fn without_inode(mut self) -> Self {
        match &mut self {
            Self::File { inode, .. } | Self::Link { inode, .. } | Self::Folder { inode, .. } => *inode = None,
            Self::Absent | Self::Unkept { .. } => {}
        }
        self
    }

    /// Whether both are known to be the same object, which was only moved. A move changes nothing of an object, but its
    /// inode may be reused as soon as it is deleted: so a folder is the same by its inode, anything else only if
    /// everything known of it is equal too.
    #[must_use]
    pub fn is_same_thing(&self, other: &Self) -> bool {
        let is_same_one = self.inode().is_some() && self.inode() == other.inode();
        is_same_one && (self.is_folder() && other.is_folder() || self.is_like(other))
    }

    /// Whether it can be restored only by moving it, because its content was not saved.
    #[must_use]
    pub fn is_only_moved(&self) -> bool {
        match self {
            Self::Folder { inode, .. } => inode.is_some(),
            Self::Unkept { .. } => true,
            Self::Absent | Self::File { .. } | Self::Link { .. } => false,
        }
    }

    /// Returns the hash of the content, where it is a saved file.
    #[must_use]
    pub fn blob(&self) -> Option<Hash> {
        match self {
            Self::File { blob, .. } => Some(*blob),
            Self::Absent | Self::Link { .. } | Self::Folder { .. } | Self::Unkept { .. } => None,
        }
    }
}

/// The states of a path before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// State before.
    pub was: FileState,
    /// State after.
    pub now: FileState,
}

impl Change {
    /// Returns the reverse change.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { was: self.now.clone(), now: self.was.clone() }
    }
}

/// The change of each path.
pub type Changes = BTreeMap<String, Change>;

/// The n-th undo of a session, from 1; people write it `u3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UndoId(pub u32);

impl fmt::Display for UndoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u{}", self.0)
    }
}

/// Something that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undoable {
    /// The effect of a call.
    Call(CallId),
    /// The effect of an undo.
    Undo(UndoId),
}

impl Undoable {
    /// Returns the kind as one word.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Call(_) => "call",
            Self::Undo(_) => "undo",
        }
    }
}

impl fmt::Display for Undoable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => call.fmt(f),
            Self::Undo(undo) => undo.fmt(f),
        }
    }
}

impl FromStr for Undoable {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        match text.strip_prefix('u').map(str::parse) {
            Some(Ok(number)) => Ok(Self::Undo(UndoId(number))),
            Some(Err(_)) | None => {
                text.parse().map(Self::Call).map_err(|_| ParseIdError::new(text, "a call (2.1.0) or an undo (u1)"))
            }
        }
    }
}

/// The files that a call may change, as they were before it. The call does not start before this is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotTaken {
    /// The call that follows.
    pub call: CallId,
    /// How much was saved.
    pub coverage: Coverage,
    /// The earlier snapshot to which this one holds only the differences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<CallId>,
    /// The state of each path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileState>,
}

/// The changes a call made to files. Stored beside its result, or alone where the call was stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChanged {
    /// The call.
    pub call: CallId,
    /// The change of each path.
    pub changes: Changes,
    /// What else may have changed undetected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// Files that the call changed or deleted unasked, and that were restored; `changes` does not hold them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<String>,
    /// Files that the call changed or deleted unasked, and that could not be restored: what became of them, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<String, String>,
}

impl FilesChanged {
    /// Whether there is nothing to record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.unseen.is_none() && self.restored.is_empty() && self.lost.is_empty()
    }
}

/// An undo of files started. It holds their states before the undo, so that the undo can be undone as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoStarted {
    /// The undo's number in the session.
    pub undo: UndoId,
    /// What it undoes.
    pub of: Undoable,
    /// The tool, where it undoes a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// The present and the restored state of each path.
    pub changes: Changes,
    /// Paths that can't be restored, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unable: BTreeMap<String, String>,
}

/// The undo finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// The undo.
    pub undo: UndoId,
    /// Paths that were left as they are, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_alone: BTreeMap<String, String>,
    /// The message to the model.
    pub told: String,
}

#[cfg(test)]
mod tests {
    use super::{FileState, UndoId, Undoable};
    use crate::Hash;

    #[test]
    fn a_call_and_an_undo_are_told_apart_by_how_they_are_written() {
        let call: Undoable = "2.1.0".parse().unwrap();
        assert!(matches!(call, Undoable::Call(_)));
        assert_eq!("u12".parse(), Ok(Undoable::Undo(UndoId(12))));
        for text in ["2.1.0", "u12"] {
            assert_eq!(text.parse::<Undoable>().unwrap().to_string(), text);
        }
        for text in ["", "u", "ux", "2.1", "undo"] {
            assert!(text.parse::<Undoable>().unwrap_err().to_string().contains("a call (2.1.0) or an undo (u1)"));
        }
    }

    #[test]
    fn a_file_is_the_same_thing_only_with_what_was_in_it() {
        let file = |content, inode| FileState::File { blob: Hash([content; 32]), mode: 0o644, inode };
        assert!(file(1, Some(5)).is_same_thing(&file(1, Some(5))));
        for other in [file(2, Some(5)), file(1, Some(6)), file(1, None)] {
            assert!(!file(1, Some(5)).is_same_thing(&other), "{other:?}");
        }
        assert!(!file(1, None).is_same_thing(&file(1, None)), "nobody knows which they are");
        assert!(file(1, Some(5)).is_like(&file(1, Some(6))), "an editor that replaces a file changes nothing by it");
        assert!(!FileState::Unkept { size: 1, modified: 1, inode: 5 }.is_like(&file(1, Some(5))));
    }

    // proves T9: the inode of a deleted file may belong to another file by now
    #[test]
    fn what_is_not_kept_is_the_same_thing_only_if_all_that_is_known_of_it_is_the_same() {
        let unkept = |size, modified| FileState::Unkept { size, modified, inode: 5 };
        assert!(unkept(1, 1).is_same_thing(&unkept(1, 1)));
        let file = FileState::File { blob: Hash([1; 32]), mode: 0o644, inode: Some(5) };
        let folder = FileState::Folder { mode: 0o755, inode: Some(5) };
        for other in [unkept(2, 1), unkept(1, 2), file, folder, FileState::Absent] {
            assert!(!unkept(1, 1).is_same_thing(&other), "{other:?}");
            assert!(!other.is_same_thing(&unkept(1, 1)), "{other:?}");
        }
    }

    #[test]
    fn a_folder_is_the_same_unless_both_know_which_it_is() {
        let folder = |mode, inode| FileState::Folder { mode, inode };
        assert!(folder(0o755, None).is_like(&folder(0o755, Some(3))));
        assert!(!folder(0o755, Some(4)).is_like(&folder(0o755, Some(3))));
        assert!(!folder(0o700, None).is_like(&folder(0o755, None)));
        assert!(!FileState::Absent.is_like(&folder(0o755, None)));
    }
}
