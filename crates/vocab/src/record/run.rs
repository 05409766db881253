//! A run: begun, taken up again, pushed, stopped, ended; and what it sends before the conversation.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Attendance, Dialect, Failure, Json, MessageId, ModelName, Nudge, OutputSpec, Policy, QuestionId, RunId, Timestamp,
    ToolName, ToolSpec, Usage,
};

/// A run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Its number in the session.
    pub run: RunId,
    /// The rules it runs under, whole.
    pub policy: Policy,
    /// The agent's name.
    #[serde(default)]
    pub agent: String,
    /// The models to try, in order.
    pub chain: Vec<ModelName>,
    /// When it must be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Whether a person can be asked.
    #[serde(default)]
    pub attendance: Attendance,
    /// The failed run this is another try of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    /// What its answer must fit, where plain text is not enough (L10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSpec>,
    /// The server its models were reached at, where there was one, so that its words do not go to another unasked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// A process took up a run that another left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResumed {
    /// Whether a person can be asked now.
    #[serde(default)]
    pub attendance: Attendance,
    /// A new deadline, where the caller gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Approval questions that were open and count no more: their calls are judged again, by the rules of this process
    /// (X6). Absent in records of older versions, whose questions stayed open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Vec<QuestionId>>,
}

/// The prefix and the offer, as they are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedContext {
    /// The static prefix: the system text.
    pub prefix: String,
    /// The tools offered.
    pub offer: Vec<ToolSpec>,
    /// The dialect that the prefix explains and calls are written in; absent means the wire's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Servers that were still being connected for the first time, so that none of their tools is offered yet.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub awaited: BTreeSet<String>,
}

/// What a run sends before the conversation was fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPinned {
    /// The new context; absent when it is the same as that of the run before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PinnedContext>,
    /// Servers whose tools joined the offer of the open run with it. Each does so once in a run (M6).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub joined: BTreeSet<String>,
}

/// The model was sent on with a message of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudged {
    /// Why.
    pub why: NudgeCause,
    /// What was observed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// What the model is told.
    pub text: String,
}

/// Why a nudge was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NudgeCause {
    /// The judge's verdict on the reply.
    Reply(Nudge),
    /// Turns of nothing but errors.
    ErrorTurns,
    /// A cycle.
    Cycle,
    /// The turn cap: wrap up.
    TurnCap,
    /// Empty replies in a row: summarise.
    Summarise,
    /// A person decided to stop going in circles: wrap up.
    Halt,
    /// The answer does not fit the output that was asked for (L10).
    Misfit,
    /// Tools were withheld: the model is told which, why, and what is left (L11).
    Withheld,
}

/// How history was shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionMethod {
    /// The oldest turns were dropped from what is sent.
    Pruned,
    /// Long results still sent were cut.
    Shrunk,
}

/// The history that is sent was shortened. The journal keeps everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// Counts the compactions of a session, from 1.
    pub epoch: u32,
    /// How.
    pub method: CompactionMethod,
    /// Messages of the session, counted from its first, that are no longer sent.
    pub through: u64,
    /// With `shrunk`: the characters kept of each older result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_chars: Option<u32>,
}

/// Who stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopBy {
    /// A person.
    Person,
    /// The caller's deadline.
    Deadline,
    /// The session was forked in mid-run: what was open there goes on only where it was begun.
    Fork,
}

/// A stop was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelAsked {
    /// By whom.
    pub by: StopBy,
}

/// Why a run is over (L3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The job is done.
    Completed,
    /// The person was asked something.
    Asked,
    /// Plain conversation.
    Conversed,
    /// It says what is not done.
    Unfinished,
    /// A person or a deadline stopped it.
    Cancelled,
    /// Too many turns.
    TurnCap,
    /// Nothing left to spend.
    BudgetSpent,
    /// It could not go on.
    Failed,
}

/// A run is over. Nothing else ends one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnded {
    /// Why.
    pub reason: EndReason,
    /// What the person is told.
    pub answer: String,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The tools that were called.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tools: BTreeSet<ToolName>,
    /// The turns it took.
    #[serde(default)]
    pub turns: u32,
    /// The output that was asked for, as it was found in the answer; it fits (L10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Set when the length limit cut off the reply that ended it: the answer is not whole (S2).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// Messages that had joined it and that no model has seen: the person's stop dropped them (L8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<MessageId>,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
}
