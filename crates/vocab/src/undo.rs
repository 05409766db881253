//! What undo needs to know (T9): how files were before a call, what it changed, and what was put back.
//!
//! A file is told by its state. Contents stand beside the journal under their hash, stored with the
//! first record of the session that names them. Paths are relative to the workspace, without links on
//! the way, so that they mean the same later.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CallId, Hash, ParseIdError, ToolName};

/// What is kept of the files before a call of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotKind {
    /// Nothing: what it does can't be undone, or there is nothing to undo.
    #[default]
    None,
    /// The paths it names beforehand, and it changes no others.
    Paths,
    /// The workspace, within bounds: it may change anything.
    Workspace,
}

impl SnapshotKind {
    /// Whether nothing is kept.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// How much of what a call may change was kept.
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
        /// Why.
        why: String,
    },
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A file with this content.
    File {
        /// Its content.
        blob: Hash,
        /// Its permissions.
        mode: u32,
        /// Which one, where it may be moved: other names of the same file stay its names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
        target: String,
        /// Which one, where it may be moved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
    },
    /// A folder.
    Folder {
        /// Its permissions.
        mode: u32,
        /// Which one, where it may be moved as a whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inode: Option<u64>,
    },
    /// Something whose content is not kept: too large, with a secret in it, or no regular file.
    Unkept {
        /// Its size in bytes.
        size: u64,
        /// When it was changed, in nanoseconds of the file system's time.
        modified: i64,
        /// Which one.
        inode: u64,
    },
}

impl FileState {
    /// What stands at a path that is not reached any more: a link was put on its way.
    pub const OUT_OF_REACH: Self = Self::Unkept { size: 0, modified: 0, inode: 0 };

    /// Whether the two are the same, as far as both can tell. A file is what is in it; a folder is the
    /// one it is.
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

    /// Whether there is something.
    #[must_use]
    pub fn exists(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// Its permissions, where it has any of its own and they are known.
    #[must_use]
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Folder { mode, .. } => Some(*mode),
            Self::Absent | Self::Link { .. } | Self::Unkept { .. } => None,
        }
    }

    /// Which thing it is, where that is known.
    #[must_use]
    pub fn inode(&self) -> Option<u64> {
        match self {
            Self::File { inode, .. } | Self::Link { inode, .. } | Self::Folder { inode, .. } => *inode,
            Self::Unkept { inode, .. } => Some(*inode).filter(|_| *self != Self::OUT_OF_REACH),
            Self::Absent => None,
        }
    }

    /// The same, wherever it is: without which thing it is, but for what nothing else is known of.
    #[must_use]
    pub fn without_inode(mut self) -> Self {
        match &mut self {
            Self::File { inode, .. } | Self::Link { inode, .. } | Self::Folder { inode, .. } => *inode = None,
            Self::Absent | Self::Unkept { .. } => {}
        }
        self
    }

    /// Whether both are known to be one and the same thing, which was only moved. Moving changes nothing of
    /// a thing, and another one may get its number as soon as it is gone: so a folder is the same by its number,
    /// anything else only if all that is known of it is the same.
    #[must_use]
    pub fn is_same_thing(&self, other: &Self) -> bool {
        let is_same_one = self.inode().is_some() && self.inode() == other.inode();
        is_same_one && (self.is_folder() && other.is_folder() || self.is_like(other))
    }

    /// Whether it can be had back only by moving it: nothing of what is in it was kept.
    #[must_use]
    pub fn is_only_moved(&self) -> bool {
        match self {
            Self::Folder { inode, .. } => inode.is_some(),
            Self::Unkept { .. } => true,
            Self::Absent | Self::File { .. } | Self::Link { .. } => false,
        }
    }

    /// The content, where it is a file that is kept.
    #[must_use]
    pub fn blob(&self) -> Option<Hash> {
        match self {
            Self::File { blob, .. } => Some(*blob),
            Self::Absent | Self::Link { .. } | Self::Folder { .. } | Self::Unkept { .. } => None,
        }
    }
}

/// What a path was and what it became.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Before.
    pub was: FileState,
    /// After.
    pub now: FileState,
}

impl Change {
    /// The way back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { was: self.now.clone(), now: self.was.clone() }
    }
}

/// Paths and what became of each.
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
    /// What a call did.
    Call(CallId),
    /// What an undo did.
    Undo(UndoId),
}

impl Undoable {
    /// What kind of deed it is, in a word.
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

/// The files a call may change, as they were before it. It does not start before this is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotTaken {
    /// Before which call.
    pub call: CallId,
    /// How much was kept.
    pub coverage: Coverage,
    /// The snapshot this one says the difference to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<CallId>,
    /// What was at each path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileState>,
}

/// What a call changed in the files is known. Stands beside its result, or alone where it was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChanged {
    /// Which call.
    pub call: CallId,
    /// What became of each path.
    pub changes: Changes,
    /// What else may have changed, unseen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
}

/// Files are being put back. What stood there is stored with this, so that it can be undone as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoStarted {
    /// Its number in the session.
    pub undo: UndoId,
    /// What is undone.
    pub of: Undoable,
    /// The tool whose call it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// What each path is, and what it will be.
    pub changes: Changes,
    /// What can't be put back, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unable: BTreeMap<String, String>,
}

/// The files are put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// Which undo.
    pub undo: UndoId,
    /// Paths that were left as they are, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_alone: BTreeMap<String, String>,
    /// What the model is told.
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

    // proves T9: the number of a file that is gone may be another's by now
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
