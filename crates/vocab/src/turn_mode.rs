//! The purpose of a turn.

use serde::{Deserialize, Serialize};

use crate::ModelRole;

/// The purpose of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnMode {
    /// Tools are offered.
    Tools,
    /// There are no tools to offer (L1).
    Talk,
    /// Tools are withheld; the reply must say what is done and what is not, and it ends the run.
    WrapUp,
    /// The model writes a summary of the older part of the conversation, without tools. The reply never enters the
    /// history, and the turn does not count against the turn cap (C5).
    Summary,
    /// The model writes a title for the session, after its first run and without tools. The reply never enters the
    /// history. No turn is started for it.
    Title,
}

impl TurnMode {
    /// Returns what the model is called for.
    #[must_use]
    pub fn role(self) -> ModelRole {
        match self {
            Self::Tools | Self::Talk | Self::WrapUp => ModelRole::Turn,
            Self::Summary => ModelRole::Summary,
            Self::Title => ModelRole::Title,
        }
    }
}
