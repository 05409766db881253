//! How a run behaves: one row per setting of the preset table. A policy is plain data, resolved
//! preset < file < flag before the run begins and stored whole in `RunStarted`, so an old run
//! resumes under the rules it began with.
//!
//! A row whose part of Windlass does not exist yet is kept here all the same and says so; a value of it that would do
//! nothing is refused where it is set ([`PolicyPatch::check`]).

mod not_built;
mod tighter;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use not_built::NotBuilt;

macro_rules! policy {
    ($($(#[$doc:meta])* $field:ident: $kind:ty $(= $added:ident)?, tighter: $tighter:ident;)*) => {
        /// The rules of one run, fully resolved and free of secrets.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Policy {
            /// The preset it started from.
            pub preset: String,
            $($(#[$doc])* $(#[serde($added, skip_serializing_if = "is_unset")])? pub $field: $kind,)*
        }

        /// Settings laid over a policy, by a file or by flags. Absent means "leave as it is".
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct PolicyPatch {
            $($(#[$doc])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$kind>,)*
        }

        impl Policy {
            /// This policy with `patch` laid over it.
            #[must_use]
            pub fn with(mut self, patch: &PolicyPatch) -> Self {
                $(if let Some(value) = &patch.$field { self.$field = value.clone(); })*
                self
            }

            /// This policy with those rows of `patch` laid over it that tighten it or leave it as it is, and the names
            /// of the others (X2).
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

            /// Every row, to be laid over another policy.
            #[must_use]
            pub fn as_patch(&self) -> PolicyPatch {
                PolicyPatch { $($field: Some(self.$field.clone()),)* }
            }
        }
    };
}

// A row marked `= default` was added later: where it is missing it has its type's default. `tighter` says what of the
// row a project may set that nobody has trusted: see `policy/tighter.rs`.
policy! {
    /// How many turns a run may take (L5).
    turn_cap: u32, tighter: at_most;
    /// What happens then.
    at_cap: TurnCapAction, tighter: at_cap;
    /// How a failed model call is tried again (M3).
    retry: Retry, tighter: retry;
    /// How calls are written by the model (T4): `native` is the wire's own way; without it the first of the
    /// others is explained to the model. All others that are named are read in its text.
    dialects: Vec<Dialect>, tighter: dialects;
    /// Where the offered tools come from (T2). `remote` offers nothing yet.
    tools: BTreeSet<ToolSource>, tighter: fewer;
    /// What ends a run. `judged_text` is taken as `text` with evidence rules until the judge reads phrases.
    ends_by: EndsBy, tighter: never;
    /// Temperature and length limit.
    sampling: Sampling, tighter: free;
    /// How hard the model should think.
    reasoning: Reasoning, tighter: free;
    /// Whether calls of one reply run together (L9).
    parallel: Parallel, tighter: parallel;
    /// What happens to a message that arrives during a run (L7).
    steering: Steering, tighter: never;
    /// How long a stream may be silent (M4).
    stream_idle: StreamIdle, tighter: stream_idle;
    /// The progress guards in force (L11).
    guards: BTreeSet<Guard>, tighter: more;
    /// How much of a result the model sees (T6).
    result_cap: ResultCap, tighter: result_cap;
    /// What happens to a call cut short by a crash that can't be repeated blindly (J4).
    unfinished_call: UnfinishedCall, tighter: unfinished_call;
    /// The nudges in force (S2). `incomplete` and `deflection` wait for the judge's phrases.
    nudges: BTreeSet<Nudge>, tighter: fewer;
    /// Plan-execute-synthesize (S3); not built yet.
    planning: Planning, tighter: planning;
    /// What of the history is sent. Until summaries are built, every kind prunes the oldest turns on overflow (C6).
    history: HistoryKeeping, tighter: never;
    /// How long an approval waits for a person before it counts as "no" (T8), in milliseconds.
    approval_wait_ms: u64, tighter: at_most;
    /// How long a tool may take unless it says otherwise (T7), in milliseconds.
    tool_timeout_ms: u64, tighter: at_most;
    /// How often an output that does not fit its schema is sent back to the model (L10).
    output_corrections: u32 = default, tighter: at_most;
    /// The tags of the tools that are offered (T2): tools with one of them, and those tagged `core`. None: all.
    tags: BTreeSet<String> = default, tighter: tags;
    /// Tools that are hidden after all else and refused when called (T2): names or patterns such as `git.*`.
    hidden: BTreeSet<String> = default, tighter: more;
    /// The longest wait a server may ask for (M3), in milliseconds: one that asks for more gives way to the next
    /// model of the chain, or ends the run. Absent: any wait is kept.
    retry_after_limit_ms: Option<u64> = default, tighter: limit;
    /// How long the first turn waits for tool servers that were never listed before (P2), in milliseconds. 0: not at all.
    server_wait_ms: u64 = default, tighter: at_most;
    /// Whether a call that writes a protected path or uses the network, and repeats text from outside, is asked about (X4).
    outside_text: OutsideText = default, tighter: outside_text;
}

/// A row that was added later is not written where it has the value that stands for its absence, so
/// that an old policy is written as it was read.
fn is_unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What happens to a call that carries text from outside to where it could do harm (X4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutsideText {
    /// It is judged like any other.
    #[default]
    Ignore,
    /// A person is asked, and told where the text came from.
    Ask,
}

/// What happens at the turn cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnCapAction {
    /// The run ends as `turn_cap`.
    Fail,
    /// One last call without tools says what is done and what is not.
    WrapUp,
}

/// Tries and waits: `first_wait_ms`, doubled each time and up to a tenth more, never above `ceiling_ms`. A wait
/// the server asks for is kept as it is, up to `retry_after_limit_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// Tries in all, the first included.
    pub tries: u32,
    /// The wait before the second.
    pub first_wait_ms: u64,
    /// The longest wait.
    pub ceiling_ms: u64,
}

/// A way of writing calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// The wire's own calls.
    Native,
    /// `<tool>` blocks.
    ToolBlock,
    /// `[server.tool(k="v")]`.
    Bracket,
    /// "Tool:/Arguments:" lines.
    Lines,
    /// What turns out to work: a reply that is nothing but one call in any dialect counts as that call,
    /// and where the server can't do native calls the run goes on with `<tool>` blocks.
    Probe,
    /// JSON without tags, or in those small models put round it: `{"name": …, "arguments": …}`.
    BareJson,
}

/// A source of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSource {
    /// In process, server name `local`.
    BuiltIn,
    /// The loop-ending three.
    Ending,
    /// Everything with another server name: MCP servers and tools an embedder registers.
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
    /// A reply without calls that the judge finds complete.
    JudgedText,
    /// A loop-ending tool; anything else is nudged on.
    EndingTool,
}

/// Sampling settings; temperatures in thousandths so that policies compare exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// While tools are offered; absent means the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_temperature_milli: Option<u32>,
    /// While none are.
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
    /// The model's own.
    #[default]
    ModelOwn,
    /// This many.
    Fixed(u32),
    /// What the context budget leaves; the model's own until budgets are built.
    Budget,
}

/// How hard the model should think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reasoning {
    /// Nothing is sent.
    ModelOwn,
    /// What the model's configuration says; nothing until models are configured one by one.
    Configured,
    /// `low`.
    Low,
    /// `medium`.
    Medium,
    /// `high`.
    High,
}

/// Whether calls of one reply run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parallel {
    /// One by one.
    Off,
    /// All together.
    On,
    /// Read-only ones together, others one by one.
    Safe,
}

/// What happens to a message that arrives during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steering {
    /// It waits for the run's end.
    Queue,
    /// The model sees it at the next turn.
    Inject,
}

/// How long a stream may be silent.
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
    /// A built-in file read that comes out as before says so, instead of repeating the content.
    RepeatedRead,
    /// A tool whose calls all failed in three turns in a row is withheld.
    FailedTool,
    /// Two turns of nothing but errors earn a correction.
    ErrorTurns,
    /// The identical error in five turns in a row ends the run.
    FiveErrors,
    /// A cycle of any period escalates.
    Cycle,
}

/// How much of a result the model sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultCap {
    /// In characters.
    pub chars: u32,
    /// Where the rest goes.
    pub rest: Spill,
}

/// Where the part of a result beyond the cap goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spill {
    /// It is dropped.
    Drop,
    /// It is kept beside the journal and read in parts as `call:ID`.
    Keep,
}

/// What happens to a call cut short by a crash that can't be repeated blindly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfinishedCall {
    /// It is run again.
    RunAgain,
    /// It is marked interrupted and the model decides.
    Interrupt,
    /// A person is asked; the run waits.
    Ask,
    /// A person is asked; where there is none it is marked interrupted.
    AskOrInterrupt,
}

/// A reason to send the model on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nudge {
    /// The reply had no text and no call.
    Empty,
    /// The reply was cut off by length.
    CutOff,
    /// The reply stops half-way; waits for the judge's phrases.
    Incomplete,
    /// The reply hands the work back; waits for the judge's phrases.
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
}

/// What of the history is sent to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKeeping {
    /// All that fits.
    AllThatFits,
    /// By tokens, the evicted part summarised.
    Summarised,
    /// By tokens, the oldest pruned.
    Pruned,
    /// The last so many messages, the rest consolidated into memory.
    Consolidated {
        /// How many.
        messages: u32,
    },
}
