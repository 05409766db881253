//! A turn: a model call, its attempts and its reply.

use serde::{Deserialize, Serialize};

use crate::{Dialect, Failure, ModelName, NanoMoney, Part, StopReason, Timestamp, TurnId, Usage};

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnMode {
    /// Tools are offered.
    Tools,
    /// There are none to offer (L1).
    Talk,
    /// Tools are withheld; the reply must say what is done and what is not, and ends the run.
    WrapUp,
}

/// A turn began: a model call is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// Its number in the run.
    pub turn: TurnId,
    /// What it is for.
    pub mode: TurnMode,
}

/// What follows a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum NextAttempt {
    /// The same again, not before `at`.
    Retry {
        /// When.
        at: Timestamp,
    },
    /// The next model of the chain.
    Model {
        /// Its name.
        model: ModelName,
    },
    /// One call that does not stream, at once (M4).
    Whole,
    /// The same with a shorter history (a `Compacted` follows).
    Shorter,
    /// The same with calls written as text (a `ContextPinned` follows).
    Dialect {
        /// How.
        dialect: Dialect,
    },
    /// Nothing: the run ends.
    End,
}

/// A model call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFailed {
    /// Its number in the turn, from 1.
    pub attempt: u32,
    /// The model called.
    pub model: ModelName,
    /// What happened.
    pub failure: Failure,
    /// What follows.
    pub next: NextAttempt,
    /// What it is charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A model answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReplied {
    /// The attempt that succeeded, from 1.
    pub attempt: u32,
    /// The model that answered, as configured.
    pub model: ModelName,
    /// What it said. Calls stand here by index only; each has a `CallRequested` in the same batch.
    pub parts: Vec<Part>,
    /// Why it stopped.
    #[serde(default)]
    pub stop: StopReason,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// What that is in money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoMoney>,
    /// Set when a stop cut it short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// What is wrong with it as the output that was asked for (L10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misfit: Option<String>,
    /// What the model is told about a call in it that can't be read (T4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}
