//! The records of a run: started, resumed, nudged, shortened, stopped, ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    Attendance, Failure, Json, MessageId, ModelName, ModelRole, NanoMoney, Nudge, OutputSpec, Policy, QuestionId,
    ReplyFault, RunChanges, RunId, RunModel, Spending, Timestamp, ToolName, Usage,
};

/// A run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Its number in the session.
    pub run: RunId,
    /// The full policy it runs under.
    pub policy: Policy,
    /// The agent's name.
    #[serde(default)]
    pub agent: String,
    /// The models to try, in order.
    pub chain: Vec<ModelName>,
    /// The time by which it must end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Whether a person can be asked.
    #[serde(default)]
    pub attendance: Attendance,
    /// The failed run that this run retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    /// The form its answer must have, where plain text is not enough (L10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<OutputSpec>>,
    /// The server that all its models were called at, in records from before each model named its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Box<str>>,
    /// What is known of the models of the chain and of the role chains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<RunModel>,
    /// The models to try in other roles than the turn's, in order; a role that is absent uses `chain` (M9).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub role_chains: Box<BTreeMap<ModelRole, Vec<ModelName>>>,
    /// Set when the person asked for a summary of the conversation so far: it is written before the first turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compact: bool,
    /// When it began, where the policy limits its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Timestamp>,
    /// What all sessions had spent before it on the same day, where the policy limits the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_today: Option<Box<Spending>>,
    /// What all sessions of the agent had spent before it on the same day, where the policy limits the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_by_agent: Option<Box<Spending>>,
    /// The session's own system prompt from this run on (C2). Absent means the one of an earlier run of the session, or
    /// that it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Box<str>>,
}

impl RunStarted {
    /// Returns what is known of a model that the run may call.
    #[must_use]
    pub fn model(&self, name: &ModelName) -> Option<&RunModel> {
        self.models.iter().find(|model| model.name == *name)
    }

    /// Whether every model of the run whose calls are JSON is told to answer in JSON, too (T4): models of one dialect share
    /// their instructions, so one of them that is held to a schema decides for all.
    #[must_use]
    pub fn asks_for_json_answers(&self) -> bool {
        self.output.is_none() && self.models.iter().any(|model| model.constrained)
    }

    /// Returns the models to try in this role, in order.
    #[must_use]
    pub fn chain_of(&self, role: ModelRole) -> &[ModelName] {
        self.role_chains.get(&role).filter(|chain| !chain.is_empty()).unwrap_or(&self.chain)
    }

    /// Returns the address of the server of a model that the run may call, where it has one.
    #[must_use]
    pub fn server_of(&self, name: &ModelName) -> Option<&str> {
        self.model(name).map_or(self.server.as_deref(), |model| model.server.as_deref())
    }
}

/// A process resumed a run that another process left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResumed {
    /// Whether a person can be asked now.
    #[serde(default)]
    pub attendance: Attendance,
    /// A new deadline, where the caller gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Approval questions that were open and are now void: their calls are checked again, by the permission rules of
    /// this process (X6). Absent in records of older versions, where such questions stayed open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<Vec<QuestionId>>,
}

/// Windlass sent the model a message so that it continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nudged {
    /// The cause.
    pub why: NudgeCause,
    /// What was observed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// The text sent to the model.
    pub text: String,
    /// What the judge found wrong with the reply (S1), the most important first. A reply without calls is then no longer
    /// sent, and the text is sent for one turn only. Empty for all other nudges, and in records from before the judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<ReplyFault>,
}

impl Nudged {
    /// Whether the run starts over: its replies and their results are no longer part of the history.
    #[must_use]
    pub fn starts_over(&self) -> bool {
        self.faults.contains(&ReplyFault::Repeated {})
    }

    /// Whether the judge sent the reply back, so that it is no longer part of the history.
    #[must_use]
    pub fn rejects_reply(&self) -> bool {
        !self.faults.is_empty()
    }
}

/// Why a nudge was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NudgeCause {
    /// The judge's verdict on the reply.
    Reply(Nudge),
    /// Consecutive turns with nothing but errors.
    ErrorTurns,
    /// A repeating sequence of calls.
    Cycle,
    /// The run reached the turn cap: the model must wrap up.
    TurnCap,
    /// Consecutive empty replies: the model must summarise.
    Summarise,
    /// A person decided to stop a model that repeats itself: it must wrap up.
    Halt,
    /// The answer does not fit the requested output (L10).
    Misfit,
    /// Tools were withheld: the text names them, the reason, and the remaining tools (L11).
    Withheld,
    /// The context window is full and nothing more can be left out: the model must wrap up (C3).
    ContextFull,
    /// The plan can't be carried out to its end: the model goes on by itself, and is told which steps are done (S3).
    PlanLeft,
}

/// How the history was shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionMethod {
    /// The oldest turns were dropped from what is sent.
    Pruned,
    /// Long results that are still sent were cut, and images left out.
    Shrunk,
    /// A model's summary took the place of the oldest turns.
    Summarised,
    /// A plain summary, made from the records, took the place of the oldest turns: no model wrote one.
    Plain,
    /// The last compaction was undone: what it left out is sent again.
    Restored,
}

/// The history that is sent to the model was shortened. The journal keeps everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compacted {
    /// Counts the compactions of a session, from 1.
    pub epoch: u32,
    /// How it was shortened.
    pub method: CompactionMethod,
    /// How many messages, counted from the session's first, are no longer sent.
    pub through: u64,
    /// With `shrunk`: how many characters of each older result are kept. Absent where no result is cut: only the images
    /// are left out, because the model's server refused one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_chars: Option<u32>,
    /// With `shrunk`: messages from this one on, counted like `through`, keep their results whole. Absent where all
    /// results are cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_from: Option<u64>,
    /// The summary of what is no longer sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What was rebuilt from the records: requests, plan, calls that changed something, files touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl Compacted {
    /// Returns a compaction that only counts messages as no longer sent.
    #[must_use]
    pub fn new(epoch: u32, method: CompactionMethod, through: u64) -> Self {
        Self { epoch, method, through, result_chars: None, whole_from: None, summary: None, notes: None }
    }
}

/// Who stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopBy {
    /// A person.
    Person,
    /// The caller's deadline.
    Deadline,
    /// The session was forked during the run: the open run continues only in the original session.
    Fork,
}

/// Somebody asked for a stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelAsked {
    /// Who asked.
    pub by: StopBy,
}

/// Why a run is over (L3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The job is done.
    Completed,
    /// The agent asked the person something.
    Asked,
    /// Plain conversation.
    Conversed,
    /// The answer lists what is not done.
    Unfinished,
    /// A person or a deadline stopped it.
    Cancelled,
    /// Too many turns.
    TurnCap,
    /// The budget is spent.
    BudgetSpent,
    /// The run could not continue.
    Failed,
}

/// A run ended. Only this record ends a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnded {
    /// Why it ended.
    pub reason: EndReason,
    /// The answer for the person.
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
    /// The requested output, as found in the answer; it fits the schema (L10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Set when the length limit cut off the last reply: the answer is incomplete (S2).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// Messages that had joined the run and that no model has seen: the person's stop dropped them (L8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<MessageId>,
    /// The tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// What they cost, where a price of the run's models is known; in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoMoney>,
    /// Set when a model is to write a title for the session now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_title: bool,
    /// What the run really did, by its records; absent where there is nothing to say, and in records from before this
    /// field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Box<RunChanges>>,
}
