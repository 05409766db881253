//! The records of a turn: a model call, its attempts and its reply.

use serde::{Deserialize, Serialize};

use crate::{
    CacheReport, ContextBudget, CutInput, Dialect, Failure, Intent, ModelName, ModelRole, NanoMoney, OutputForm, Part,
    StopReason, Timestamp, TurnId, TurnMode, Usage,
};

/// The part of the conversation that a summary replaces, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryTask {
    /// How many messages, counted from the session's first, are summarised and no longer sent.
    pub through: u64,
    /// The purpose of the turn that starts when the summary is there.
    pub then: TurnMode,
}

/// A turn began: a model call must follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// Its number in the run.
    pub turn: TurnId,
    /// Its purpose.
    pub mode: TurnMode,
    /// What fills the context window; absent in records from before this was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<ContextBudget>,
    /// With `summary`: what is to be summarised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryTask>,
}

impl TurnStarted {
    /// Returns a turn of which nothing was measured.
    #[must_use]
    pub fn new(turn: TurnId, mode: TurnMode) -> Self {
        Self { turn, mode, budget: None, summary: None }
    }
}

/// What follows a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum NextAttempt {
    /// Retry the same call, not before `at`.
    Retry {
        /// The earliest time of the retry.
        at: Timestamp,
    },
    /// Call the next model of the chain.
    Model {
        /// Its name.
        model: ModelName,
    },
    /// Call once without streaming, at once (M4).
    Whole,
    /// Call again with a shorter history (a `Compacted` follows, or a turn that writes a summary).
    Shorter,
    /// Call again, with tool calls written as text (a `ContextPinned` follows).
    Dialect {
        /// The syntax of the calls.
        dialect: Dialect,
    },
    /// Call again, with the output asked for in another form (L10).
    Output {
        /// The form.
        form: OutputForm,
    },
    /// No further attempt to get a summary from a model: a plain one takes its place (a `Compacted` follows).
    PlainSummary,
    /// No further attempt: the run ends; without a planner's reply it goes on without a plan, and without a router's with
    /// tools.
    End,
}

/// A model call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFailed {
    /// The attempt's number in the turn, from 1.
    pub attempt: u32,
    /// The model called.
    pub model: ModelName,
    /// What happened.
    pub failure: Failure,
    /// What follows.
    pub next: NextAttempt,
    /// The tokens charged for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the model was called for. A failed call for a summary has the role `turn`, as before there were others.
    #[serde(default, skip_serializing_if = "ModelRole::is_turn")]
    pub role: ModelRole,
}

/// A model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReplied {
    /// The attempt that succeeded, from 1.
    pub attempt: u32,
    /// The model that answered, as named in the configuration.
    pub model: ModelName,
    /// The reply. It holds calls by index only; each has a `CallRequested` in the same batch.
    pub parts: Vec<Part>,
    /// Why the model stopped.
    #[serde(default)]
    pub stop: StopReason,
    /// The tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// The cost in money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoMoney>,
    /// Set when a stop cut the reply short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Why the reply does not fit the requested output (L10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misfit: Option<String>,
    /// The message to the model about a call in the reply that could not be parsed (T4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
    /// What the model was called for; only replies in the roles `turn` and `synthesis` enter the history.
    #[serde(default, skip_serializing_if = "ModelRole::is_turn")]
    pub role: ModelRole,
    /// Whether the request was read from the provider's cache; absent where nothing is known of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Box<CacheReport>>,
    /// How much of the request the server read, where it did not read all of it (M8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutInput>,
    /// The estimated tokens of the passages that were sent for this turn only (C10).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retrieved: u64,
    /// With the role `router`: whether the run offers tools (T2). A reply that does not say so clearly means `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}
