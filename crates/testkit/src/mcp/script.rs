//! What a fake MCP server is told to do, as data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Every published revision of the protocol, oldest first.
pub const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", MODERN_MINUS_ONE, MODERN];

/// The first revision without a handshake: each request carries its own revision.
pub(super) const MODERN: &str = "2026-07-28";
/// The last one with a handshake.
pub(super) const MODERN_MINUS_ONE: &str = "2025-11-25";

/// One server, from its start to its end. The default one is well-behaved and has no tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpScript {
    /// What it calls itself.
    pub name: String,
    /// The revisions it speaks.
    pub revisions: Vec<String>,
    /// How one that does not know `server/discover` meets it.
    pub probe: Probe,
    /// How long it takes before it reads its first message.
    pub starts_after_ms: u64,
    /// How it greets.
    pub handshake: Greeting,
    /// Its tools.
    pub tools: Vec<FakeTool>,
    /// How it lists them.
    pub listing: ListingStyle,
    /// Unasked-for `list_changed` after the handshake.
    pub flood: Flood,
    /// What else than messages it writes to standard output.
    pub noise: Vec<Noise>,
    /// Bytes it writes to standard error before anything else.
    pub stderr_bytes: u64,
    /// Processes it starts and forgets.
    pub grandchildren: Vec<Grandchild>,
    /// What it does when it should go.
    pub leaving: InputEndBehaviour,
    /// Where it notes what it did.
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
    /// A server with one tool, `echo`, which tells its arguments.
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

    /// The script as text, for a command line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// How a server of the old revisions meets a method it does not know before the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// It answers "method not found".
    #[default]
    Refuses,
    /// It says nothing.
    Ignores,
    /// It exits.
    Dies,
}

/// How a server greets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Greeting {
    /// As the protocol says.
    #[default]
    Proper,
    /// It is gone before it reads anything.
    ExitsBefore,
    /// It answers, and is gone.
    ExitsAfter,
    /// It reads and never answers.
    Never,
    /// It answers with an error.
    Refuses,
    /// It answers with this revision whatever it was asked for.
    Claims(String),
    /// It answers with something that is no greeting.
    Nonsense,
}

/// How a server lists its tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListingStyle {
    /// All on one page.
    #[default]
    Whole,
    /// Its own tools, then so many more named `tool_0` and on, over so many pages.
    Paged {
        /// How many more.
        tools: usize,
        /// Over how many pages.
        pages: usize,
    },
    /// There is always another page, with another cursor.
    Endless,
    /// There is always another page, with the same cursor.
    Circular,
    /// One more tool at each listing.
    Grows,
    /// Every description is another from the second listing on.
    Changes,
    /// Never answered.
    Never,
    /// Answered with an error.
    Refuses,
    /// These, whatever they are.
    Raw(Vec<Value>),
    /// A tool whose schema has so many levels.
    Deep(usize),
}

/// How many `list_changed` a server sends without being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flood {
    /// None.
    #[default]
    None,
    /// So many, at once.
    Count(u32),
    /// As fast as they are taken, for as long as it lives.
    Endless,
}

/// What stands on standard output besides messages.
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
    /// A line of bytes that are no UTF-8 before each message.
    BrokenUtf8,
    /// Lines of JSON that are no messages before each message.
    StrayJson,
    /// A line of 1 MiB before each message.
    LongLines,
}

/// A process that a server starts and forgets; it would live for five minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grandchild {
    /// In the server's own process group.
    InGroup,
    /// In a session of its own.
    InOwnSession,
    /// Deaf to SIGTERM, with the server's standard output open.
    Deaf,
}

/// What a server does when its input ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputEndBehaviour {
    /// It goes.
    #[default]
    Politely,
    /// It stays, and is deaf to SIGTERM.
    Never,
}

/// A tool of a fake server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FakeTool {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    #[serde(default)]
    pub description: String,
    /// The schema of its arguments.
    #[serde(default = "any_object")]
    pub schema: Value,
    /// The schema it promises its results to have.
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

    /// This tool with a promise of what its results look like.
    #[must_use]
    pub fn promising(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }
}

fn any_object() -> Value {
    json!({"type": "object"})
}

/// What a tool does when it is called. Every call is noted in the diary first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolAction {
    /// Tells its arguments.
    Echo,
    /// Tells how often it was called, as a job that goes on.
    Counts,
    /// Answers with this result, whatever it is.
    Result(Value),
    /// Answers with an error of the tool.
    Fails(String),
    /// Answers with an error of the protocol.
    Refuses(i64),
    /// Exits instead of answering.
    Dies,
    /// Exits in the middle of its answer.
    DiesAnswering,
    /// Writes half of its answer and no more.
    StopsAnswering,
    /// Never answers.
    Never,
    /// Never answers, and never reads again.
    StopsReading,
    /// Never answers the first call that its diary knows of, and echoes the others.
    NeverAtFirst,
    /// Echoes after so many milliseconds, answering others meanwhile.
    Waits(u64),
    /// Answers twice.
    Twice,
    /// Answers with the id of no request, then echoes.
    StrayId,
    /// Answers with the id of no request, and no more.
    WrongId,
    /// Answers with its id as a string.
    IdAsString,
    /// Keeps its answer back until another call was answered.
    HoldsBack,
    /// Answers with so many bytes of text.
    Big(usize),
    /// Answers with structured content of so many levels.
    Deep(usize),
    /// Answers with text that is no UTF-8.
    BrokenUtf8,
    /// Asks the client something first, and echoes when it was answered.
    AsksBack(AskBack),
    /// Wants something of the person: by a request of its own in the old revisions, by
    /// `input_required` in the new one.
    Elicits(PersonRequest),
    /// Wants something of the person again and again.
    ElicitsForEver(PersonRequest),
    /// Reports progress so many times, then echoes.
    Progresses(u32),
    /// Adds a tool, says that the list changed, and echoes.
    GrowsTools,
    /// Writes so many bytes to standard error, then echoes.
    Complains(u64),
}

/// What a server may ask a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskBack {
    /// Are you there?
    Ping,
    /// Which folders?
    Roots,
    /// What would your model say?
    Sampling,
    /// Something that is in no revision.
    Unknown,
}

/// What is wanted of the person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonRequest {
    /// A form filled in.
    Form {
        /// What the person is told.
        message: String,
        /// What they fill in.
        schema: Value,
    },
    /// A page visited.
    Visit {
        /// What the person is told.
        message: String,
        /// Where.
        url: String,
    },
}
