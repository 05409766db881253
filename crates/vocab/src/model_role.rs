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
    /// A title for the session; not used yet.
    Title,
    /// Whether tools are needed at all (T2); not used yet.
    Router,
    /// The steps of a plan (S3); not used yet.
    Planner,
    /// One step of a plan (S3); not used yet.
    Step,
    /// The answer made from the steps' results (S3); not used yet.
    Synthesis,
    /// Whether a reply is complete (S1); not used yet.
    Judge,
}

impl ModelRole {
    /// Whether this is a turn of the loop, whose reply belongs to the conversation.
    #[must_use]
    pub fn is_turn(&self) -> bool {
        *self == Self::Turn
    }
}
