//! What a tool is to the loop, and how a call of it came out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    Failure, Hash, Json, Pause, PlanItem, Preview, Remedy, SnapshotKind, TextOrigin, ToolName, Verdict, VerdictReason,
};

/// What running a tool twice would mean. Decides what happens to a call cut short by a crash (J4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Changes nothing.
    ReadOnly,
    /// Doing it twice is the same as once.
    Idempotent,
    /// Can't be repeated blindly, but can be asked whether it took place.
    Verifiable,
    /// Anything else.
    Once,
}

/// How a successful call of a loop-ending tool ends the run (L6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The job is done.
    Completed,
    /// The person is asked something; the run is over.
    Asked,
    /// Plain conversation.
    Conversed,
}

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `server.tool`, for people.
    pub name: ToolName,
    /// The name the model sees: letters, digits, `_` and `-`, at most 64.
    pub wire_name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments, an object.
    pub schema: Json,
    /// What running it twice would mean.
    pub effect: EffectClass,
    /// Set for loop-ending tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// A poll: exempt from the progress guards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// Built in, and does nothing but show what is in the workspace: a repeated result may be shortened (L11).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_files: bool,
    /// What it is for; a run may offer the tools of some tags alone (T2).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
}

/// How a call came out (T5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It did what it says. A command's non-zero exit is `Ok` too: a result, not a failure; see [`CommandExit`].
    Ok,
    /// The tool says no.
    ToolError,
    /// What the arguments name is not there: a file, or a text in a file. The model can correct that by itself.
    NotFound,
    /// The tool could not be reached or broke.
    InfrastructureError,
    /// There is no such tool.
    Unknown,
    /// The arguments don't fit the schema.
    InvalidArguments,
    /// A rule or a person forbade it.
    Denied,
    /// The run was stopped, or a sibling ended it.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// A crash cut it short; whether it took effect is not known.
    Interrupted,
}

/// How a command ended, as its parent process saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandExit {
    /// It exited with this code; 0 is success.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl CommandExit {
    /// Whether it exited with code 0.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

/// What was left out of a result, and where to read on (T6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Characters of the whole text.
    pub total_chars: u64,
    /// Characters shown.
    pub shown_chars: u64,
    /// The blob with the whole text, read in parts as `call:ID`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Hash>,
}

/// A tool's answer, before it becomes a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it came out.
    pub kind: OutcomeKind,
    /// The whole text, not yet cut.
    pub text: String,
    /// The plan as it stands after the call, from the todo tool.
    pub plan: Option<Vec<PlanItem>>,
    /// Structure beside the text.
    pub structured: Option<Json>,
    /// How the command ended, where the call ran one and saw its end.
    pub exit: Option<CommandExit>,
    /// Where the text came from, if from outside.
    pub origin: Option<TextOrigin>,
    /// What a person could change so that such a call would run.
    pub remedy: Option<Remedy>,
    /// Set when the call can't go on before the person has answered; the rest means nothing then.
    pub pause: Option<Pause>,
}

impl Outcome {
    /// An answer of `kind` that is only text.
    #[must_use]
    pub fn new(kind: OutcomeKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            plan: None,
            structured: None,
            exit: None,
            origin: None,
            remedy: None,
            pause: None,
        }
    }

    /// A success.
    #[must_use]
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(OutcomeKind::Ok, text)
    }

    /// The call waits for the person.
    #[must_use]
    pub fn paused(pause: Pause) -> Self {
        Self { pause: Some(pause), ..Self::ok("") }
    }

    /// The tool says no.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self::new(OutcomeKind::ToolError, text)
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::new(OutcomeKind::InfrastructureError, failure.message)
    }
}

/// What was done to a call so that it could be read (T3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The JSON was malformed and was mended.
    Syntax,
    /// The arguments were a JSON text inside a string.
    Unquoted,
    /// No arguments were given; an empty object stands in.
    Missing,
    /// The name was given without its prefix, or with one too many.
    Name,
    /// The name is one that other agents have for the tool.
    Alias,
    /// The name was misspelt.
    Nearest,
    /// Backslashes that escape nothing were kept as they are.
    Escape,
    /// A value was of another type than the schema has, and was made that type.
    Coerced,
    /// One value stood where a list of such is wanted.
    Wrapped,
    /// A null stood for something that may be left out, and was.
    Dropped,
}

impl Repair {
    /// What was wrong, in a word or two.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "malformed JSON",
            Self::Unquoted => "JSON in a string",
            Self::Missing => "no arguments",
            Self::Name => "name with another prefix",
            Self::Alias => "name of another agent",
            Self::Nearest => "misspelt name",
            Self::Escape => "unknown escape",
            Self::Coerced => "another type",
            Self::Wrapped => "one value for a list",
            Self::Dropped => "null for nothing",
        }
    }
}

/// A call of a reply after names were resolved, arguments validated and permissions looked up: what
/// the machine is told, so that it needs neither registry nor rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedCall {
    /// The provider's id for it.
    pub provider_id: Option<String>,
    /// The name as the model wrote it.
    pub name: String,
    /// The tool meant, if there is one.
    pub tool: Option<ToolName>,
    /// The arguments: always an object.
    pub arguments: Json,
    /// The text the model wrote, where it differs from `arguments`.
    pub raw: Option<String>,
    /// What was mended.
    pub repairs: Vec<Repair>,
    /// What running it twice would mean.
    pub effect: EffectClass,
    /// Set for loop-ending tools.
    pub ending: Option<Ending>,
    /// Exempt from progress guards.
    pub repeatable: bool,
    /// Set for built-in tools that only show what is in the workspace.
    pub reads_files: bool,
    /// May it run?
    pub verdict: Verdict,
    /// What the person is shown when asked.
    pub preview: Option<Preview>,
    /// What is kept of the files before it.
    pub snapshot: SnapshotKind,
    /// What decided the verdict.
    pub because: Option<VerdictReason>,
}
