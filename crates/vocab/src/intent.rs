//! What a request needs, by the intent router (T2).

use serde::{Deserialize, Serialize};

/// Whether a request is answered with tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// It can be answered at once: no tool definitions are sent.
    Direct,
    /// It may need tools.
    Agent,
}
