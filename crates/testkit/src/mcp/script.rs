//! The script of a fake MCP server, as data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Every published revision of the protocol, oldest first.
pub const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", MODERN_MINUS_ONE, MODERN];

/// The first revision without a handshake: each request carries its own revision.
pub(super) const MODERN: &str = "2026-07-28";
/// The last revision with a handshake.
pub(super) const MODERN_MINUS_ONE: &str = "2025-11-25";

/// One server, from start to exit. The default one is well-behaved and has no tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpScript {
    /// The server name it reports.
    pub name: String,
    /// The revisions it supports.
    pub revisions: Vec<String>,
    /// How it reacts to `server/discover` if it does not know that method.
    pub probe: Probe,
    /// How long it waits before it reads its first message.
    pub starts_after_ms: u64,
    /// How it does the handshake.
    pub handshake: Greeting,
    /// Its tools.
    pub tools: Vec<FakeTool>,
    /// How it lists them.
    pub listing: ListingStyle,
    /// Unrequested `list_changed` notifications after the handshake.
    pub flood: Flood,
    /// What it writes to standard output besides messages.
    pub noise: Vec<Noise>,
    /// Bytes it writes to standard error before anything else.
    pub stderr_bytes: u64,
    /// Processes it starts and leaves running.
    pub grandchildren: Vec<Grandchild>,
    /// What it does when its input ends.
    pub leaving: InputEndBehaviour,
    /// The folder of its diary.
    pub diary: Option<PathBuf>,
}

impl Default for McpScript {
    fn default() -> Self {
        Self {
            name: "fake".to_owned(),
            revisions: REVISIONS.map(str::to_owned).to_vec(),
            probe: Probe::default(),
            starts_after_ms: 0,
            handshake: Greeting::default(),
            tools: Vec::new(),
            listing: ListingStyle::default(),
            flood: Flood::default(),
            noise: Vec::new(),
            stderr_bytes: 0,
            grandchildren: Vec::new(),
            leaving: InputEndBehaviour::default(),
            diary: None,
        }
    }
}

impl McpScript {
    /// A server with one tool, `echo`, which returns its arguments.
    #[must_use]
    pub fn echo() -> Self {
        Self::with([FakeTool::new("echo", ToolAction::Echo)])
    }

    /// A server with these tools.
    pub fn with(tools: impl IntoIterator<Item = FakeTool>) -> Self {
        Self { tools: tools.into_iter().collect(), ..Self::default() }
    }

    /// This server with only the revisions that have a handshake.
    #[must_use]
    pub fn legacy(self) -> Self {
        self.speaking(&REVISIONS[..4])
    }

    /// This server with only the newest revision.
    #[must_use]
    pub fn modern(self) -> Self {
        self.speaking(&[MODERN])
    }

    /// This server with these revisions.
    #[must_use]
    pub fn speaking(mut self, revisions: &[&str]) -> Self {
        self.revisions = revisions.iter().map(|revision| (*revision).to_owned()).collect();
        self
    }

    /// The script as JSON, for a command line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a script.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// How a server of the old revisions reacts to a method it does not know before the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// It answers "method not found".
    #[default]
    Refuses,
    /// It does not answer.
    Ignores,
    /// It exits.
    Dies,
}

/// How a server does the handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Greeting {
    /// As the protocol says.
    #[default]
    Proper,
    /// It exits before it reads anything.
    ExitsBefore,
    /// It answers, and exits.
    ExitsAfter,
    /// It reads and never answers.
    Never,
    /// It answers with an error.
    Refuses,
    /// It answers with this revision whatever the client asked for.
    Claims(String),
    /// It answers with a result that is no handshake answer.
    Nonsense,
}

/// How a server lists its tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingStyle {
    /// All on one page.
    #[default]
    Whole,
    /// Its own tools, then generated ones named `tool_0` and so on, over several pages.
    Paged {
        /// How many generated tools.
        tools: usize,
        /// How many pages.
        pages: usize,
    },
    /// There is always another page, with another cursor.
    Endless,
    /// There is always another page, with the same cursor.
    Circular,
    /// One more tool at each listing.
    Grows,
    /// From the second listing on, every description differs.
    Changes,
    /// The request is never answered.
    Never,
    /// The request is answered with an error.
    Refuses,
    /// These entries, valid or not.
    Raw(Vec<Value>),
    /// A tool whose schema has this many levels.
    Deep(usize),
}

/// How many unrequested `list_changed` notifications a server sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flood {
    /// None.
    #[default]
    None,
    /// This many, at once.
    Count(u32),
    /// As fast as the client reads them, for as long as the server lives.
    Endless,
}

/// What a server writes to standard output besides messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// A log line before each message.
    LogLines,
    /// Blank lines around each message.
    BlankLines,
    /// A byte order mark before each message.
    Bom,
    /// Lines end in CR LF.
    Crlf,
    /// A line of invalid UTF-8 before each message.
    BrokenUtf8,
    /// Lines of JSON that are no messages, before each message.
    StrayJson,
    /// A line of 1 MiB before each message.
    LongLines,
}

/// A process that a server starts and leaves running; it would live for five minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grandchild {
    /// In the server's own process group.
    InGroup,
    /// In its own session.
    InOwnSession,
    /// Ignoring SIGTERM, with the server's standard output open.
    Deaf,
}

/// What a server does when its input ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputEndBehaviour {
    /// It exits.
    #[default]
    Politely,
    /// It keeps running, and ignores SIGTERM.
    Never,
}

/// A tool of a fake server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FakeTool {
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: String,
    /// The schema of its arguments.
    #[serde(default = "any_object")]
    pub schema: Value,
    /// The schema it declares for its results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Its annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// What it does.
    pub does: ToolAction,
}

impl FakeTool {
    /// A tool that takes any object.
    #[must_use]
    pub fn new(name: &str, does: ToolAction) -> Self {
        Self {
            name: name.to_owned(),
            description: format!("The tool {name}."),
            schema: any_object(),
            output_schema: None,
            annotations: None,
            does,
        }
    }

    /// This tool with annotations.
    #[must_use]
    pub fn annotated(mut self, annotations: Value) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// This tool with another schema for its arguments.
    #[must_use]
    pub fn taking(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }

    /// This tool with a declared schema for its results.
    #[must_use]
    pub fn promising(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }
}

fn any_object() -> Value {
    json!({"type": "object"})
}

/// What a tool does when it is called. Every call is recorded in the diary first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolAction {
    /// Returns its arguments.
    Echo,
    /// Returns how often it was called, as a job whose progress is polled.
    Counts,
    /// Returns this result, valid or not.
    Result(Value),
    /// Returns a tool error.
    Fails(String),
    /// Returns a protocol error with this code.
    Refuses(i64),
    /// Exits instead of answering.
    Dies,
    /// Exits in the middle of its answer.
    DiesAnswering,
    /// Writes half of its answer and then nothing.
    StopsAnswering,
    /// Never answers.
    Never,
    /// Never answers, and never reads again.
    StopsReading,
    /// Never answers the first call recorded in its diary, and echoes the others.
    NeverAtFirst,
    /// Echoes after this many milliseconds, answering other requests meanwhile.
    Waits(u64),
    /// Answers twice.
    Twice,
    /// Answers with an id that belongs to no request, then echoes.
    StrayId,
    /// Answers with an id that belongs to no request, and then nothing.
    WrongId,
    /// Answers with the request id as a string.
    IdAsString,
    /// Delays its answer until another call was answered.
    HoldsBack,
    /// Returns this many bytes of text.
    Big(usize),
    /// Returns structured content with this many levels.
    Deep(usize),
    /// Returns text that is invalid UTF-8.
    BrokenUtf8,
    /// Sends the client a request first, and echoes when it was answered.
    AsksBack(AskBack),
    /// Requests input from the person: by a server request in the old revisions, by `input_required` in the new one.
    Elicits(PersonRequest),
    /// Requests input from the person again and again.
    ElicitsForEver(PersonRequest),
    /// Reports progress this many times, then echoes.
    Progresses(u32),
    /// Adds a tool, sends `list_changed`, and echoes.
    GrowsTools,
    /// Writes this many bytes to standard error, then echoes.
    Complains(u64),
}

/// A request that a server may send to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskBack {
    /// `ping`.
    Ping,
    /// The list of roots.
    Roots,
    /// A reply of the client's model.
    Sampling,
    /// A method that is in no revision.
    Unknown,
}

/// Input that a server requests from the person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonRequest {
    /// A form to fill in.
    Form {
        /// The message displayed to the person.
        message: String,
        /// The schema of the form.
        schema: Value,
    },
    /// A page to visit.
    Visit {
        /// The message displayed to the person.
        message: String,
        /// The URL of the page.
        url: String,
    },
}
