//! What a call does to files: rules that forbid or ask go by this, not by the name of the tool (X5).

use std::path::PathBuf;
use std::sync::Arc;

use crate::other_names::OtherName;
use crate::path_glob::Text;
use crate::path_pattern::{Extent, PathPattern};

/// What a call does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Something of it may reach the model.
    Read,
    /// It may change, come into being or go.
    Write,
}

impl Access {
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
pub(crate) const FILE_TOOLS: &[(&str, Access)] = &[
    ("edit_file", Access::Write),
    ("list_directory", Access::Read),
    ("move_file", Access::Write),
    ("read_file", Access::Read),
    ("search_files", Access::Read),
    ("write_file", Access::Write),
];

/// One path, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileAccess {
    pub(crate) access: Access,
    /// Relative to the workspace, without `.` and `..`.
    pub(crate) path: Text,
    /// The name that rules which forbid or ask go by, in lower case: this path, or another name of what is there.
    folded: Text,
    /// Why what is there has another name, if this is about that.
    pub(crate) because: Option<Arc<str>>,
    extent: Extent,
    /// The folder that git takes for a repository because of it, or obeys otherwise afterwards.
    pub(crate) repository: Option<PathBuf>,
}

impl FileAccess {
    pub(crate) fn new(access: Access, path: impl Into<String>, extent: Extent) -> Self {
        let path = path.into();
        let folded = Text::new(path.to_lowercase());
        Self { access, folded, because: None, path: Text::new(path), extent, repository: None }
    }

    /// The same by another name of what is there. What a person has agreed to goes by the path.
    pub(crate) fn by_other_name(&self, name: &OtherName) -> Self {
        let because = Some(Arc::clone(&name.because));
        Self { folded: Text::new(name.path.clone()), because, ..self.clone() }
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
        let means = |path: &Text| pattern.forbids(path, roots, Extent::Itself);
        means(&self.folded) || self.because.is_some() && means(&Text::new(self.path.as_str().to_lowercase()))
    }
}
