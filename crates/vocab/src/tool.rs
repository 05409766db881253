//! Tools as the agent loop sees them, and the outcomes of calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Failure, Hash, ImageContent, Json, Pause, PlanItem, Preview, Remedy, SnapshotKind, TextOrigin, ToolName, Verdict,
    VerdictReason,
};

/// What running a tool twice would mean. Decides what happens to a call that a crash interrupted (J4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Changes nothing.
    ReadOnly,
    /// Running it twice has the same effect as once.
    Idempotent,
    /// Can't be repeated blindly, but the tool can report whether the effect took place.
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
    /// The agent asks the person something; the run ends.
    Asked,
    /// Plain conversation.
    Conversed,
}

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name for people: `server.tool`.
    pub name: ToolName,
    /// The name the model sees: letters, digits, `_` and `-`, at most 64.
    pub wire_name: String,
    /// What it does and when to use it. Shared: every session that offers the tool has a copy of this.
    pub description: Arc<str>,
    /// JSON Schema of the arguments, an object.
    pub schema: Json,
    /// What running the tool twice would mean.
    pub effect: EffectClass,
    /// Set for loop-ending tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// Set for tools that poll: exempt from the progress guards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// Set for built-in tools that only display what is in the workspace: a repeated result may be shortened (L11).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_files: bool,
    /// What the tool is for; a run may offer only the tools with certain tags (T2).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
}

/// The outcome of a call (T5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The tool worked. A command's non-zero exit is `Ok` too: a result, not a failure; see [`CommandExit`].
    Ok,
    /// The tool reports an error.
    ToolError,
    /// Something the arguments name does not exist: a file, or a text in a file. The model can correct that by itself.
    NotFound,
    /// The tool could not be called or crashed.
    InfrastructureError,
    /// There is no such tool.
    Unknown,
    /// The arguments don't fit the schema.
    InvalidArguments,
    /// A rule or a person forbade it.
    Denied,
    /// The run was stopped, or another call of the same reply ended it.
    Cancelled,
    /// It exceeded its timeout.
    TimedOut,
    /// A crash interrupted it; whether it took effect is unknown.
    Interrupted,
}

/// How a command ended, as its parent process observed it.
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

/// What was left out of a result, and where to read the rest (T6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Length of the whole text, in characters.
    pub total_chars: u64,
    /// Length of the part the model sees, in characters.
    pub shown_chars: u64,
    /// The blob with the whole text; the model reads it in parts as `call:ID`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Hash>,
}

/// A tool's result, before it becomes a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The kind of outcome.
    pub kind: OutcomeKind,
    /// The whole text, not yet cut.
    pub text: String,
    /// The plan after the call; set by the todo tool.
    pub plan: Option<Vec<PlanItem>>,
    /// Structured content beside the text.
    pub structured: Option<Json>,
    /// The images of the result.
    pub images: Box<[ImageContent]>,
    /// How the command ended, where the call ran one and observed its end.
    pub exit: Option<CommandExit>,
    /// Where the text came from, if from outside.
    pub origin: Option<TextOrigin>,
    /// What a person could change so that such a call would run.
    pub remedy: Option<Remedy>,
    /// Set when the call can't continue before the person has answered; the other fields mean nothing then.
    pub pause: Option<Pause>,
}

impl Outcome {
    /// Returns an outcome of `kind` that is only text.
    #[must_use]
    pub fn new(kind: OutcomeKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            plan: None,
            structured: None,
            images: Box::default(),
            exit: None,
            origin: None,
            remedy: None,
            pause: None,
        }
    }

    /// Returns a success.
    #[must_use]
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(OutcomeKind::Ok, text)
    }

    /// Returns the outcome of a call that waits for the person.
    #[must_use]
    pub fn paused(pause: Pause) -> Self {
        Self { pause: Some(pause), ..Self::ok("") }
    }

    /// Returns an error that the tool reports.
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

/// A repair that made a call parsable (T3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// The JSON was malformed and was repaired.
    Syntax,
    /// The arguments were JSON inside a string.
    Unquoted,
    /// No arguments were given; an empty object is used.
    Missing,
    /// The name lacked its prefix, or had one too many.
    Name,
    /// The name is the one that other agents use for the tool.
    Alias,
    /// The name was misspelt; the nearest one is used.
    Nearest,
    /// Backslashes that form no valid escape were kept literally.
    Escape,
    /// A value had another type than the schema requires, and was converted.
    Coerced,
    /// A single value was given where the schema requires a list.
    Wrapped,
    /// A null was given for an optional argument, and was removed.
    Dropped,
    /// A required argument was given by another name of the same.
    Renamed,
    /// A script used modules that it did not import.
    Imports,
    /// A script was the new text of a file, which is written.
    FileText,
}

impl Repair {
    /// Returns what was wrong, in a word or two.
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
            Self::Renamed => "argument by another name",
            Self::Imports => "missing imports",
            Self::FileText => "a file's text for a script",
        }
    }
}

/// A call of a reply, with its name resolved, arguments validated and permissions checked: the machine gets it in this
/// form, so that it needs neither the tool registry nor the permission rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedCall {
    /// The provider's id for it.
    pub provider_id: Option<String>,
    /// The name as the model wrote it.
    pub name: String,
    /// The tool that the name was resolved to, if it exists.
    pub tool: Option<ToolName>,
    /// The arguments: always an object.
    pub arguments: Json,
    /// The text the model wrote, where it differs from `arguments`.
    pub raw: Option<String>,
    /// The repairs made to the call.
    pub repairs: Vec<Repair>,
    /// What running the call twice would mean.
    pub effect: EffectClass,
    /// Set for loop-ending tools.
    pub ending: Option<Ending>,
    /// Whether the call is exempt from progress guards.
    pub repeatable: bool,
    /// Set for built-in tools that only display what is in the workspace.
    pub reads_files: bool,
    /// Whether the call may run.
    pub verdict: Verdict,
    /// What a person sees when asked about the call.
    pub preview: Option<Preview>,
    /// Which files are saved before the call.
    pub snapshot: SnapshotKind,
    /// What decided the verdict.
    pub because: Option<VerdictReason>,
}
