//! The accesses of a call to files: rules that forbid or ask go by these, not by the name of the tool (X5).

use std::path::PathBuf;
use std::sync::Arc;

use crate::other_names::OtherName;
use crate::path_glob::PathText;
use crate::path_pattern::{PathExtent, PathPattern};

/// The kind of an access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessKind {
    /// Content or metadata of the file may reach the model.
    Read,
    /// The file may be changed, created or removed.
    Write,
}

impl AccessKind {
    /// Returns the name that rules use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The built-in tools that work on files, each with the access that its name means in a rule that forbids or asks.
pub(crate) const FILE_TOOLS: &[(&str, AccessKind)] = &[
    ("append_file", AccessKind::Write),
    ("delete_file", AccessKind::Write),
    ("edit_file", AccessKind::Write),
    ("list_directory", AccessKind::Read),
    ("move_file", AccessKind::Write),
    ("read_file", AccessKind::Read),
    ("search_files", AccessKind::Read),
    ("write_file", AccessKind::Write),
];

/// One access to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileAccess {
    pub(crate) access: AccessKind,
    /// Relative to the workspace, without `.` and `..`.
    pub(crate) path: PathText,
    /// The name that rules which forbid or ask are matched against, in lower case: `path`, or another name.
    folded: PathText,
    /// Why the file has another name, if `folded` is another name.
    pub(crate) because: Option<Arc<str>>,
    extent: PathExtent,
    /// The folder that this access makes a git repository, or whose git settings or hooks it changes.
    pub(crate) repository: Option<PathBuf>,
}

impl FileAccess {
    pub(crate) fn new(access: AccessKind, path: impl Into<String>, extent: PathExtent) -> Self {
        let path = path.into();
        let folded = PathText::new(path.to_lowercase());
        Self { access, folded, because: None, path: PathText::new(path), extent, repository: None }
    }

    /// The same access by another name of the file. What a person approved goes by `path`.
    pub(crate) fn by_other_name(&self, name: &OtherName) -> Self {
        let because = Some(Arc::clone(&name.because));
        Self { folded: PathText::new(name.path.clone()), because, ..self.clone() }
    }

    /// Whether both are the same access to the same path, by the same names.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_named_alike = self.folded.as_str() == other.folded.as_str();
        is_named_alike
            && self.access == other.access
            && self.path.as_str() == other.path.as_str()
            && self.repository == other.repository
    }

    /// Whether a pattern that forbids matches this access.
    pub(crate) fn is_meant_by(&self, pattern: &PathPattern, roots: &[PathBuf]) -> bool {
        pattern.forbids(&self.folded, roots, self.extent)
    }

    /// Whether a pattern matches the path itself, regardless of anything below it.
    pub(crate) fn is_inside(&self, pattern: &PathPattern, roots: &[PathBuf]) -> bool {
        let means = |path: &PathText| pattern.forbids(path, roots, PathExtent::Itself);
        means(&self.folded) || self.because.is_some() && means(&PathText::new(self.path.as_str().to_lowercase()))
    }
}
