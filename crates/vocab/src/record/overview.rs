//! What a workspace held when a run began: shown to models that do not look for themselves.

use serde::{Deserialize, Serialize};

use crate::TextOrigin;

/// The files of a workspace at the beginning of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceOverview {
    /// The files, in the order of their paths.
    pub files: Vec<OverviewFile>,
    /// Whether there are more files than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Set when the model is not shown it: only the judge reads it (S1).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_for_judge: bool,
}

impl WorkspaceOverview {
    /// Whether it has the text of every file. Where files may be ignored, there may be others.
    #[must_use]
    pub fn has_every_text(&self) -> bool {
        let is_whole = |file: &OverviewFile| file.text.is_some() && file.path.rsplit('/').next() != Some(".gitignore");
        !self.is_cut && self.files.iter().all(is_whole)
    }
}

/// A file of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewFile {
    /// Its path, relative to the workspace.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its text, where the request names it or the whole workspace is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where its text came from, if nobody has checked it (X4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<TextOrigin>,
}
