//! What a model is called for (M9).

use serde::{Deserialize, Serialize};

/// The purpose of a model call. Every role uses the same retries, chain, usage, cost and journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// A turn of the loop.
    #[default]
    Turn,
    /// A summary of the part of the conversation that will no longer be sent (C5).
    Summary,
    /// A title for the session.
    Title,
    /// Whether a request needs tools at all (T2).
    Router,
    /// The steps of a plan (S3).
    Planner,
    /// One step of a plan (S3).
    Step,
    /// The answer made from the steps' results (S3).
    Synthesis,
    /// Whether a reply is complete (S1); not used yet.
    Judge,
}

/// Whether a model is called in a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleUse {
    /// The model of the conversation: its chain is the run's.
    Run,
    /// Models are called in it; it may have a chain of its own.
    Own,
    /// Nothing calls a model in it yet.
    NotBuilt,
}

impl ModelRole {
    /// All roles.
    pub const ALL: [Self; 8] =
        [Self::Turn, Self::Summary, Self::Title, Self::Router, Self::Planner, Self::Step, Self::Synthesis, Self::Judge];

    /// Returns its name in settings and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Summary => "summary",
            Self::Title => "title",
            Self::Router => "router",
            Self::Planner => "planner",
            Self::Step => "step",
            Self::Synthesis => "synthesis",
            Self::Judge => "judge",
        }
    }

    /// Returns whether a model is called in this role.
    #[must_use]
    pub const fn usage(self) -> RoleUse {
        match self {
            Self::Turn => RoleUse::Run,
            Self::Summary | Self::Title | Self::Router | Self::Planner | Self::Step | Self::Synthesis => RoleUse::Own,
            Self::Judge => RoleUse::NotBuilt,
        }
    }

    /// Whether this is a turn of the loop.
    #[must_use]
    pub fn is_turn(&self) -> bool {
        *self == Self::Turn
    }

    /// Whether a reply belongs to the conversation: it is shown, it may be the answer, and it enters the history.
    #[must_use]
    pub const fn is_of_conversation(&self) -> bool {
        match self {
            Self::Turn | Self::Synthesis => true,
            Self::Summary | Self::Title | Self::Router | Self::Planner | Self::Step | Self::Judge => false,
        }
    }
}
