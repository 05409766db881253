//! What a call does to files: rules that forbid or ask go by this, not by the name of the tool (X5).

use std::path::PathBuf;
use std::sync::Arc;

use crate::other_names::OtherName;
use crate::path_glob::PathText;
use crate::path_pattern::{PathExtent, PathPattern};

/// What a call does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// Something of it may reach the model.
    Read,
    /// It may change, come into being or go.
    Write,
}

impl AccessKind {
    /// As rules write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The built-in tools that work on files, each with the access its name stands for in a rule that forbids or
/// asks.
pub(crate) const FILE_TOOLS: &[(&str, AccessKind)] = &[
    ("edit_file", AccessKind::Write),
    ("list_directory", AccessKind::Read),
    ("move_file", AccessKind::Write),
    ("read_file", AccessKind::Read),
    ("search_files", AccessKind::Read),
    ("write_file", AccessKind::Write),
];

/// One path, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileAccess {
    pub(crate) access: AccessKind,
    /// Relative to the workspace, without `.` and `..`.
    pub(crate) path: PathText,
    /// The name that rules which forbid or ask go by, in lower case: this path, or another name of what is there.
    folded: PathText,
    /// Why what is there has another name, if this is about that.
    pub(crate) because: Option<Arc<str>>,
    extent: PathExtent,
    /// The folder that git takes for a repository because of it, or obeys otherwise afterwards.
    pub(crate) repository: Option<PathBuf>,
}

impl FileAccess {
    pub(crate) fn new(access: AccessKind, path: impl Into<String>, extent: PathExtent) -> Self {
        let path = path.into();
        let folded = PathText::new(path.to_lowercase());
        Self { access, folded, because: None, path: PathText::new(path), extent, repository: None }
    }

    /// The same by another name of what is there. What a person has agreed to goes by the path.
    pub(crate) fn by_other_name(&self, name: &OtherName) -> Self {
        let because = Some(Arc::clone(&name.because));
        Self { folded: PathText::new(name.path.clone()), because, ..self.clone() }
    }

    /// Whether this is done to the same path, and means the same there.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_named_alike = self.folded.as_str() == other.folded.as_str();
        is_named_alike
            && self.access == other.access
            && self.path.as_str() == other.path.as_str()
            && self.repository == other.repository
    }

    /// Whether a pattern that forbids means it.
    pub(crate) fn is_meant_by(&self, pattern: &PathPattern, roots: &[PathBuf]) -> bool {
        pattern.forbids(&self.folded, roots, self.extent)
    }

    /// Whether a pattern means the path itself, whatever may be below it.
    pub(crate) fn is_inside(&self, pattern: &PathPattern, roots: &[PathBuf]) -> bool {
        let means = |path: &PathText| pattern.forbids(path, roots, PathExtent::Itself);
        means(&self.folded) || self.because.is_some() && means(&PathText::new(self.path.as_str().to_lowercase()))
    }
}
