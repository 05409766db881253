//! Records: the durable facts, in the past tense. Fields are only ever added, each with a default
//! that means the old behaviour; a kind this binary does not know is kept raw and makes the journal
//! read-only to it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::undo::{FilesChanged, SnapshotTaken, UndoStarted, Undone};
use crate::{
    Answer, AnsweredBy, At, Attendance, Because, CallId, Cut, Dialect, EffectClass, EffectId, Elicitation, Ending,
    Failure, Json, MessageId, ModelName, NanoMoney, Nudge, OutcomeKind, OutputSpec, Part, Policy, Preview, QuestionId,
    QuestionKind, QuestionOption, Repair, RunId, SessionId, SnapshotKind, StopReason, ToolName, ToolSpec, TurnId,
    Usage,
};

macro_rules! records {
    ($($kind:ident,)*) => {
        /// A durable fact.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Record {
            $($kind($kind),)*
            /// Of a kind this binary does not know.
            Unknown(Unknown),
        }

        $(impl From<$kind> for Record {
            fn from(body: $kind) -> Self {
                Self::$kind(body)
            }
        })*

        /// The body alone; its kind stands beside it in the envelope.
        impl Serialize for RecordBody<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    $(Record::$kind(body) => body.serialize(serializer),)*
                    Record::Unknown(unknown) => unknown.body.serialize(serializer),
                }
            }
        }

        impl Record {
            /// Every kind this binary knows.
            pub const KINDS: &'static [&'static str] = &[$(stringify!($kind),)*];

            /// The name of the kind, as stored.
            #[must_use]
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$kind(_) => stringify!($kind),)*
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            /// The record of this kind and body. A kind that is not known is not an error.
            pub(crate) fn from_parts(kind: &str, body: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $(stringify!($kind) => serde_json::from_str(body).map(Self::$kind),)*
                    _ => Ok(Self::Unknown(Unknown { kind: kind.to_owned(), body: serde_json::from_str(body)? })),
                }
            }
        }
    };
}

records! {
    SessionOpened,
    SessionChanged,
    LeaseTaken,
    MessageAccepted,
    RunStarted,
    RunResumed,
    ContextPinned,
    TurnStarted,
    AttemptFailed,
    ModelReplied,
    CallRequested,
    CallStarted,
    CallPaused,
    CallSettled,
    CallFinished,
    QuestionAsked,
    QuestionAnswered,
    Nudged,
    ToolWithheld,
    PlanChanged,
    Compacted,
    CancelAsked,
    RunEnded,
    SnapshotTaken,
    FilesChanged,
    UndoStarted,
    Undone,
}

impl Record {
    /// The body as it is stored, without its kind.
    pub fn body(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&RecordBody(self))
    }
}

/// A record's body, to be written.
pub(crate) struct RecordBody<'a>(pub(crate) &'a Record);

/// A record of a kind that a newer version writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its kind.
    pub kind: String,
    /// Its body, untouched.
    pub body: Json,
}

/// The first record of every session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// Who it belongs to.
    pub owner: String,
    /// What a person types after `--session`; unique per owner.
    pub key: String,
    /// The folder its tools work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The session and call that spawned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(SessionId, CallId)>,
    /// The version of Windlass that opened it.
    #[serde(default)]
    pub version: String,
    /// Where a fork's first records were written, the oldest session first; the last is the one it was
    /// forked from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forked_from: Vec<Origin>,
}

/// A session that a fork took records over from: those up to `seq`, above the `seq` of the origin before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Which.
    pub session: SessionId,
    /// The last record that was taken over.
    pub seq: u64,
}

/// Something about the session as a whole changed. Absent means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionChanged {
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A new key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A writer took the session. Every later write of an earlier writer conflicts (J5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseTaken {
    /// Counts the takings, from 1.
    pub epoch: u64,
    /// Who, for people.
    pub holder: String,
}

/// A message was taken up from the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAccepted {
    /// The sender's id for it.
    pub message_id: MessageId,
    /// What it says.
    pub text: String,
}

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
    pub deadline: Option<At>,
    /// Whether a person can be asked.
    #[serde(default)]
    pub attendance: Attendance,
    /// The failed run this is another try of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    /// What its answer must fit, where plain text is not enough (L10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSpec>,
}

/// A process took up a run that another left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunResumed {
    /// Whether a person can be asked now.
    #[serde(default)]
    pub attendance: Attendance,
    /// A new deadline, where the caller gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<At>,
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
}

/// What a run sends before the conversation was fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPinned {
    /// The new context; absent when it is the same as that of the run before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PinnedContext>,
}

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
        at: At,
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

/// May a call run?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Allow,
    /// A person must say.
    Ask,
    /// No; the model is told why.
    Deny {
        /// Why, and what would allow it.
        reason: String,
    },
    /// It can't: the arguments don't fit.
    Invalid {
        /// How to mend them.
        reason: String,
    },
    /// It can't: there is no such tool.
    Unknown {
        /// What the model is told, with suggestions.
        reason: String,
    },
}

/// The model asked for a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRequested {
    /// Its id.
    pub call: CallId,
    /// The provider's id for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The name as the model wrote it.
    pub name: String,
    /// The tool meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolName>,
    /// The arguments, an object.
    pub arguments: Json,
    /// What the model wrote, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// What was mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// What running it twice would mean.
    pub effect: EffectClass,
    /// The key of its effect to the outside.
    pub effect_id: EffectId,
    /// Set for loop-ending tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Exempt from progress guards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// May it run?
    pub verdict: Verdict,
    /// What a person would be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// What is kept of the files before it (T9).
    #[serde(default, skip_serializing_if = "SnapshotKind::is_none")]
    pub snapshot: SnapshotKind,
    /// What decided the verdict (T11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
}

/// The call may have started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStarted {
    /// Which.
    pub call: CallId,
    /// The arguments it runs with, where a person edited them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
}

/// The call can't go on before the person has answered; it is run again with the answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPaused {
    /// Which.
    pub call: CallId,
    /// What its tool must be given back.
    pub state: Json,
    /// What is asked.
    pub asks: Vec<Elicitation>,
}

/// How a call cut short by a crash is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// It is run again.
    RunAgain,
    /// The tool is asked whether it took place.
    Verify,
    /// It is taken as interrupted.
    Interrupt,
    /// A person is asked.
    Ask,
}

/// What becomes of a call cut short was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSettled {
    /// Which.
    pub call: CallId,
    /// How.
    pub settlement: Settlement,
}

/// A call has its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFinished {
    /// Which.
    pub call: CallId,
    /// How it came out.
    pub outcome: OutcomeKind,
    /// The text the model sees.
    pub text: String,
    /// What was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// How long it took.
    #[serde(default)]
    pub took_ms: u64,
    /// The earlier call whose result this repeats (L11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_from: Option<CallId>,
    /// Structure beside the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Json>,
}

/// A person is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAsked {
    /// Its number in the session.
    pub question: QuestionId,
    /// What about.
    pub kind: QuestionKind,
    /// What is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The answers on offer.
    pub options: Vec<QuestionOption>,
    /// When the default is taken; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<At>,
    /// What silence means.
    pub default: QuestionOption,
    /// What a tool needs to be told, where it is a tool that asks (P4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<Elicitation>,
}

/// A permission that outlives the call it was given for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grant {
    /// The rule, e.g. `run_command(cargo *)`.
    pub rule: String,
}

/// A question was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswered {
    /// Which.
    pub question: QuestionId,
    /// How.
    pub answer: Answer,
    /// By whom.
    pub by: AnsweredBy,
    /// What it allows from now on in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
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
}

/// Why a tool is withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithheldFor {
    /// It failed too often in a row.
    Failures,
    /// The model ran in circles with it.
    Cycle,
}

/// A tool is refused for the rest of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolWithheld {
    /// What for.
    pub cause: WithheldFor,
    /// Which.
    pub tool: ToolName,
    /// Why, for the model.
    pub reason: String,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Open,
    /// Under way.
    Doing,
    /// Done.
    Done,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done.
    pub step: String,
    /// How far it is.
    pub status: PlanStatus,
}

/// As models are shown it: `[x] step`.
impl std::fmt::Display for PlanItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = match self.status {
            PlanStatus::Open => ' ',
            PlanStatus::Doing => '>',
            PlanStatus::Done => 'x',
        };
        write!(f, "[{mark}] {}", self.step)
    }
}

/// The plan changed; this is all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChanged {
    /// The steps.
    pub items: Vec<PlanItem>,
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
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
}
