//! What a run really did, from its records, whatever its answer claims.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Set when the request asks for a change and the records show none.
    #[serde(default, rename = "unfounded", skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingChange>,
    /// Files that its scripts changed or deleted unasked, and that were restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restored: Vec<String>,
    /// Files that its scripts changed or deleted unasked, and that could not be restored: what became of them, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lost: BTreeMap<String, String>,
}

/// A file that was moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedPath {
    /// Its path before.
    pub from: String,
    /// Its path since.
    pub to: String,
}

/// A change that was asked for and that the records do not show: what the answer says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingChange {
    /// It says that something was changed.
    Claimed,
    /// It claims no change.
    #[serde(rename = "not_done")]
    NotClaimed,
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

    /// Returns every path that the records show as changed, a moved one by both its names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let moved = self.moved.iter().flat_map(|moved| [&moved.from, &moved.to]);
        self.created.iter().chain(&self.changed).chain(&self.deleted).chain(moved).map(String::as_str)
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
