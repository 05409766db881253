//! Who made a request, and what they may do.

use serde::{Deserialize, Serialize};

/// Who made a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The user, who owns sessions.
    pub user: String,
    /// What the user may do.
    pub role: CallerRole,
}

/// What a user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallerRole {
    /// Use their own sessions.
    User,
    /// Use everybody's sessions.
    Admin,
}

impl Caller {
    /// Whether the caller may use the sessions of this owner.
    pub(crate) fn may_use(&self, owner: &str) -> bool {
        self.user == owner || self.role == CallerRole::Admin
    }
}
