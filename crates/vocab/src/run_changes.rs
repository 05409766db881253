//! What a run really did, from its records, whatever its answer claims.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ToolName;

/// What a run did to files and elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunChanges {
    /// Files and folders that it made; a folder ends with `/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<String>,
    /// Files that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Files that it deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<String>,
    /// Files that it moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedPath>,
    /// How many more paths were changed, which are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u32,
    /// Commands that it ran, which may have changed more than was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Tools of other servers that it called and that may have changed something.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub elsewhere: BTreeSet<ToolName>,
    /// Files that the request names, in a request for a change, and that were not changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_changed: Vec<String>,
    /// What the answer says about changes, where the records show none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfounded: Option<UnfoundedEnd>,
}

/// A file that was moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedPath {
    /// Its path before.
    pub from: String,
    /// Its path since.
    pub to: String,
}

/// An end that the records do not bear out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfoundedEnd {
    /// The answer says that something was changed, and nothing was.
    Claimed,
    /// The request asks for a change, and nothing was changed; the answer claims none.
    NotDone,
}

impl RunChanges {
    /// Whether the records show a change of files.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !(self.created.is_empty() && self.changed.is_empty() && self.deleted.is_empty() && self.moved.is_empty())
            || self.more > 0
    }

    /// Whether the run may have changed something that the records do not show.
    #[must_use]
    pub fn may_have_changed_more(&self) -> bool {
        !self.commands.is_empty() || !self.elsewhere.is_empty()
    }

    /// Whether there is nothing to say about the run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
