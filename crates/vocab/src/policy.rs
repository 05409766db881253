//! How a run behaves: one row per setting of the preset table. A policy is plain data, resolved preset < file < flag
//! before the run begins and stored whole in `RunStarted`, so an old run resumes under the rules it began with.
//!
//! A row whose feature is not built yet is listed too, and says so; [`PolicyPatch::check`] refuses a value that would
//! have no effect.

mod not_built;
mod tighter;

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

pub use not_built::{NotBuilt, VALUES_NOT_BUILT};

use crate::Dollars;

macro_rules! policy {
    ($($(#[$doc:meta])* $field:ident: $kind:ty $(= $added:ident)?, tighter: $tighter:ident;)*) => {
        /// The rules of one run, fully resolved and free of secrets.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Policy {
            /// The preset it started from.
            pub preset: String,
            $($(#[$doc])* $(#[serde($added, skip_serializing_if = "is_unset")])? pub $field: $kind,)*
        }

        /// Settings applied on top of a policy, from a file or from flags. Absent means "leave as it is".
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct PolicyPatch {
            $($(#[$doc])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$kind>,)*
        }

        impl Policy {
            /// Returns this policy with `patch` applied.
            #[must_use]
            pub fn with(mut self, patch: &PolicyPatch) -> Self {
                $(if let Some(value) = &patch.$field { self.$field = value.clone(); })*
                self
            }

            /// Returns this policy with only those rows of `patch` applied that tighten it or leave it as it is, and
            /// the names of the other rows (X2).
            #[must_use]
            pub fn tightened(mut self, patch: &PolicyPatch) -> (Self, Vec<&'static str>) {
                let mut looser = Vec::new();
                $(if let Some(value) = &patch.$field {
                    if *value == self.$field || tighter::$tighter(&self.$field, value) {
                        self.$field = value.clone();
                    } else {
                        looser.push(stringify!($field));
                    }
                })*
                (self, looser)
            }

            /// Returns every row as a patch for another policy.
            #[must_use]
            pub fn as_patch(&self) -> PolicyPatch {
                PolicyPatch { $($field: Some(self.$field.clone()),)* }
            }
        }
    };
}

// A row marked `= default` was added later: where it is missing it has its type's default. `tighter` names the function
// in `policy/tighter.rs` that decides which values an untrusted project may set.
policy! {
    /// How many turns a run may take (L5).
    turn_cap: u32, tighter: at_most;
    /// What happens when a run reaches `turn_cap`.
    at_cap: TurnCapAction, tighter: at_cap;
    /// How a failed model call is retried (M3).
    retry: Retry, tighter: retry;
    /// How the model writes calls (T4). `native` is the wire's own form; without it, the prompt explains the first of
    /// the others. Text is also parsed for all others that are listed.
    dialects: Vec<Dialect>, tighter: dialects;
    /// Where the offered tools come from (T2). `remote` offers nothing yet.
    tools: BTreeSet<ToolSource>, tighter: fewer;
    /// What ends a run. With `judged_text` the judge reads the text first (S1).
    ends_by: EndsBy, tighter: never;
    /// Temperature and length limit of replies.
    sampling: Sampling, tighter: free;
    /// How much reasoning effort the model is asked for.
    reasoning: Reasoning, tighter: free;
    /// Whether calls of one reply run in parallel (L9).
    parallel: Parallel, tighter: parallel;
    /// What happens to a message that arrives during a run (L7).
    steering: Steering, tighter: never;
    /// How long a stream may be silent before it counts as failed (M4).
    stream_idle: StreamIdle, tighter: stream_idle;
    /// The active progress guards (L11).
    guards: BTreeSet<Guard>, tighter: more;
    /// How much of a result the model sees (T6).
    result_cap: ResultCap, tighter: result_cap;
    /// What happens to a call that a crash interrupted and that can't be repeated blindly (J4).
    unfinished_call: UnfinishedCall, tighter: unfinished_call;
    /// The active nudges (S2). `incomplete` and `deflection` are the judge's, at most three of both in a run.
    nudges: BTreeSet<Nudge>, tighter: fewer;
    /// Plan-execute-synthesize (S3); not built yet.
    planning: Planning, tighter: planning;
    /// Which part of the history is sent (C5, C6).
    history: HistoryKeeping, tighter: never;
    /// How long an approval waits for a person before it counts as "no" (T8), in milliseconds.
    approval_wait_ms: u64, tighter: at_most;
    /// The timeout of a tool that sets none itself (T7), in milliseconds.
    tool_timeout_ms: u64, tighter: at_most;
    /// How often an output that does not fit its schema is sent back to the model (L10).
    output_corrections: u32 = default, tighter: at_most;
    /// Tags that select the offered tools (T2): tools with one of them, and those tagged `core`. Empty: all tools.
    tags: BTreeSet<String> = default, tighter: tags;
    /// Tools that are removed from the offer last and refused when called (T2): names or patterns such as `git.*`.
    hidden: BTreeSet<String> = default, tighter: more;
    /// The longest wait a server may ask for (M3), in milliseconds. If it asks for more, the run uses the next model of
    /// the chain, or ends. Absent: no limit.
    retry_after_limit_ms: Option<u64> = default, tighter: limit;
    /// How long the first turn waits for tool servers that were never listed before (P2), in milliseconds. 0: no wait.
    server_wait_ms: u64 = default, tighter: at_most;
    /// Whether a person is asked about calls that carry text from outside to a protected path or the network (X4).
    outside_text: OutsideText = default, tighter: outside_text;
    /// Whether a model writes a title for the session after its first run (M9).
    titles: Titles = default, tighter: titles;
    /// The most money a run may spend on model calls (M7), in US dollars. Calls whose price is not known count as
    /// nothing; 0 allows only models that cost nothing. Absent, here and in the rows below: no limit.
    run_cost_limit: Option<Dollars> = default, tighter: limit;
    /// The most tokens a run may send and receive.
    run_token_limit: Option<NonZeroU64> = default, tighter: limit;
    /// The time after which a run makes no further model call, in milliseconds.
    run_time_limit_ms: Option<NonZeroU64> = default, tighter: limit;
    /// The most money that all runs of a session may spend.
    session_cost_limit: Option<Dollars> = default, tighter: limit;
    /// The most tokens that all runs of a session may send and receive.
    session_token_limit: Option<NonZeroU64> = default, tighter: limit;
    /// The most money that all sessions may spend on one day, by UTC.
    day_cost_limit: Option<Dollars> = default, tighter: limit;
    /// The most tokens that all sessions may send and receive on one day, by UTC.
    day_token_limit: Option<NonZeroU64> = default, tighter: limit;
    /// The most money that all sessions of the agent may spend on one day, by UTC.
    agent_cost_limit: Option<Dollars> = default, tighter: limit;
    /// The most tokens that all sessions of the agent may send and receive on one day, by UTC.
    agent_token_limit: Option<NonZeroU64> = default, tighter: limit;
    /// Which sources add passages to a turn (C10): text found by the words of the last message.
    retrieve: Retrieve = default, tighter: retrieve;
    /// Whether the model is shown what the workspace holds before the request (C1).
    overview: Overview = default, tighter: overview;
    /// Whether a person is asked about changes to files that the request did not ask for: any change where it is a
    /// question, deleting what it does not name, and changing what it does not name after what it names. What a script did so
    /// is restored.
    unasked_changes: UnaskedChanges = default, tighter: unasked_changes;
    /// How many tools besides the core tools a run offers where there are more than thirty: those that fit the request best
    /// (S4). The others can be looked for. 0: all of them. The number of a model's own entry counts more.
    tools_offered: u16 = default, tighter: free;
    /// Whether a model is asked first if the request needs tools at all (T2).
    router: IntentRouter = default, tighter: router;
}

/// Whether a row has its default. A row that was added later is not serialized then, so that an old policy is written
/// back as it was read.
fn is_unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What happens to a call that would carry text from outside to a protected path or the network (X4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutsideText {
    /// Permissions are checked as for any other call.
    #[default]
    Ignore,
    /// A person is asked, and sees where the text came from.
    Ask,
}

/// What happens to a call that changes files although the request did not ask for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnaskedChanges {
    /// Permissions are checked as for any other call.
    #[default]
    Allow,
    /// A person is asked; where nobody is available, the call is refused.
    Ask,
}

/// Who says whether a request needs tools (T2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentRouter {
    /// Nobody: tools are offered.
    #[default]
    Off,
    /// A model, in the role `router`, when a run begins, as long as no tool was called in the conversation.
    Model,
}

/// Who writes a session's title.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Titles {
    /// Nobody: the first words of the session stand for it.
    #[default]
    Off,
    /// A model, in the role `title`, once: when the first run that has an answer is over.
    Model,
}

/// Which sources add passages to a turn (C10). They cost tokens in every turn, so none does unless it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retrieve {
    /// None.
    #[default]
    Off,
    /// Those that the program which built the agent has added.
    Own,
    /// The text files of the workspace, and those that the program has added.
    Workspace,
}

/// Whether a run begins with an overview of its workspace: the files with their sizes, and the text of those that the
/// request names, or of all of them where they are few and short. Small models do not look for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overview {
    /// It does not.
    #[default]
    Off,
    /// Where the first model of the run writes calls as text.
    TextCalls,
    /// It does.
    On,
}

/// What happens at the turn cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnCapAction {
    /// The run ends as `turn_cap`.
    Fail,
    /// One last model call without tools reports what is done and what is not.
    WrapUp,
}

/// Retries of a model call: the wait is `first_wait_ms`, doubled each time, plus up to a tenth, never above
/// `ceiling_ms`. A wait that the server asks for is used as it is, up to `retry_after_limit_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Tries in all, the first included.
    pub tries: u32,
    /// The wait before the second try.
    pub first_wait_ms: u64,
    /// The longest wait.
    pub ceiling_ms: u64,
}

/// A syntax in which a model writes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// The wire's own call format.
    Native,
    /// `<tool>` blocks.
    ToolBlock,
    /// `[server.tool(k="v")]`.
    Bracket,
    /// "Tool:/Arguments:" lines.
    Lines,
    /// Detected at run time: a reply that consists of one call in any dialect counts as that call, and where the server
    /// does not support native calls the run continues with `<tool>` blocks.
    Probe,
    /// JSON without tags, or in the tags that small models put round it: `{"name": …, "arguments": …}`.
    BareJson,
    /// `<tool name="…">` with an element for each argument, explained in few words: for small models.
    ToolTag,
    /// A fenced block of Python or shell, which is run as a command; for small models.
    Script,
}

/// A source of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSource {
    /// In process, server name `local`.
    BuiltIn,
    /// The three loop-ending tools.
    Ending,
    /// All other server names: MCP servers and tools that an embedder registers.
    Mcp,
    /// Other machines; not built yet.
    Remote,
}

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndsBy {
    /// A reply without calls.
    Text,
    /// A reply without calls that the judge considers complete.
    JudgedText,
    /// A call of a loop-ending tool; any other reply gets a nudge.
    EndingTool,
}

/// Sampling settings; temperatures in thousandths so that policies compare exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// Temperature while tools are offered; absent means the model's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_temperature_milli: Option<u32>,
    /// Temperature while no tools are offered; absent means the model's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talk_temperature_milli: Option<u32>,
    /// The length limit of a reply.
    #[serde(default)]
    pub max_tokens: MaxTokens,
}

/// The length limit of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokens {
    /// The model's default.
    #[default]
    ModelOwn,
    /// This many tokens.
    Fixed(u32),
    /// What the context budget leaves; the model's default where its window is unknown.
    Budget,
}

/// How much reasoning effort the model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
    /// The model's default: no setting is sent.
    ModelOwn,
    /// The value in the model's configuration; no setting is sent until models are configured individually.
    Configured,
    /// `low`.
    Low,
    /// `medium`.
    Medium,
    /// `high`.
    High,
}

/// Whether calls of one reply run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parallel {
    /// One after the other.
    Off,
    /// All in parallel.
    On,
    /// Read-only ones in parallel, others one after the other.
    Safe,
}

/// What happens to a message that arrives during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steering {
    /// It waits until the run ends.
    Queue,
    /// The model sees it at the next turn.
    Inject,
}

/// How long a stream may be silent before it counts as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamIdle {
    /// Before the first token.
    pub first_ms: u64,
    /// Between tokens.
    pub next_ms: u64,
}

/// A progress guard (L11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// When a built-in file read gives the same result again, the result says so instead of repeating the content.
    RepeatedRead,
    /// A change of files that repeats the last one, which worked, is not made again; the second time in a row the run ends
    /// if the records show that all is done. A script is not run again while nothing has changed.
    RepeatedChange,
    /// A tool whose calls all failed in three turns in a row is withdrawn from the run.
    FailedTool,
    /// After two turns with nothing but errors the model gets a correction.
    ErrorTurns,
    /// The identical error in five turns in a row ends the run.
    FiveErrors,
    /// A repeating sequence of calls of any length: the response escalates.
    Cycle,
}

/// How much of a result the model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultCap {
    /// The limit, in characters.
    pub chars: u32,
    /// Where the part beyond the limit goes.
    pub rest: Spill,
}

/// Where the part of a result beyond the cap goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spill {
    /// It is dropped.
    Drop,
    /// It is stored beside the journal; the model reads it in parts as `call:ID`.
    Keep,
}

/// What happens to a call that a crash interrupted and that can't be repeated blindly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfinishedCall {
    /// It is run again.
    RunAgain,
    /// It is marked interrupted and the model decides.
    Interrupt,
    /// A person is asked; the run waits.
    Ask,
    /// A person is asked; if nobody is available, the call is marked interrupted.
    AskOrInterrupt,
}

/// A reason to send the model a message so that it continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nudge {
    /// The reply had no text and no call.
    Empty,
    /// The reply was cut off by length.
    CutOff,
    /// Something that was asked for is not done.
    Incomplete,
    /// The reply hands the work back.
    Deflection,
    /// The reply had no call where one is needed.
    NoToolCall,
}

/// Plan-execute-synthesize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Planning {
    /// Never.
    No,
    /// When asked for.
    Optional,
    /// In every run that has tools.
    Always,
}

/// Which part of the history is sent to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKeeping {
    /// All that fits: only as much of the oldest part is left out as is needed.
    AllThatFits,
    /// Limited by tokens: first older results are shortened, then a summary takes the place of the oldest part.
    Summarised,
    /// Limited by tokens: the oldest part is left out, down to half of the window.
    Pruned,
    /// At most `messages` messages; when there are more, a summary takes the place of all but the newest half.
    /// Otherwise like `summarised`.
    Consolidated {
        /// The most messages that are sent.
        messages: u32,
    },
}
