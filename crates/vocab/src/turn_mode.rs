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
    /// The model writes a plan for the request, without tools (S3). The reply never enters the history, and the turn does
    /// not count against the turn cap.
    Plan,
    /// The model writes the answer from the results of the plan's steps, without tools (S3). The reply is the run's answer.
    Synthesis,
    /// The model says whether the request needs tools, before any are offered (T2). The reply never enters the history,
    /// and the turn does not count against the turn cap.
    Route,
}

impl TurnMode {
    /// Whether the model is shown the words of the person that the run is about.
    #[must_use]
    pub const fn reads_request(self) -> bool {
        match self {
            Self::Tools | Self::Talk | Self::WrapUp | Self::Plan | Self::Synthesis => true,
            Self::Summary | Self::Title | Self::Route => false,
        }
    }

    /// Returns what the model is called for.
    #[must_use]
    pub fn role(self) -> ModelRole {
        match self {
            Self::Tools | Self::Talk | Self::WrapUp => ModelRole::Turn,
            Self::Summary => ModelRole::Summary,
            Self::Title => ModelRole::Title,
            Self::Plan => ModelRole::Planner,
            Self::Synthesis => ModelRole::Synthesis,
            Self::Route => ModelRole::Router,
        }
    }
}
