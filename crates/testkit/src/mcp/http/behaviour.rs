//! How a fake server behaves at the HTTP level.

use serde_json::Value;

/// How requests are answered. The default is an event stream, in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpBehaviour {
    /// The form of an answer.
    pub answers: HttpAnswers,
    /// How sessions of the old revisions are treated.
    pub session: HttpSession,
    /// The faults; the first one that matches applies.
    pub faults: Vec<HttpFault>,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpAnswers {
    /// An event stream.
    #[default]
    Events,
    /// One JSON document; messages before the answer are lost.
    Json,
}

/// How a session that the handshake created is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpSession {
    /// It is kept.
    #[default]
    Kept,
    /// There is none.
    None,
    /// It is unknown (404) after this many messages.
    ForgottenAfter(u32),
}

/// A fault in answering a request.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpFault {
    /// The MCP method it applies to; `None` means all.
    pub on: Option<String>,
    /// How many times it occurs.
    pub times: u32,
    /// The kind of fault.
    pub kind: HttpFaultKind,
}

/// The kind of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpFaultKind {
    /// Another status, with a line of text and these headers.
    Status(u16, Vec<(String, String)>),
    /// A web page instead of the announced content type.
    Page,
    /// Invalid JSON.
    NotJson,
    /// The connection closes without a response.
    Closes,
    /// The headers, and then nothing.
    Holds,
    /// An event stream with nothing but comments, for ever.
    OnlyComments,
    /// An event stream that ends without the answer.
    EndsEarly,
    /// An event that never ends.
    EndlessEvent,
}

impl HttpFault {
    /// A fault that always affects this method.
    #[must_use]
    pub fn on(method: &str, kind: HttpFaultKind) -> Self {
        Self { on: Some(method.to_owned()), times: u32::MAX, kind }
    }

    /// This fault, limited to `times` occurrences.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }
}

/// A received request.
#[derive(Clone, Debug, PartialEq)]
pub struct McpHttpRequest {
    /// The HTTP method.
    pub method: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON-RPC message; `null` if there is none.
    pub body: Value,
}

impl McpHttpRequest {
    /// The value of a header; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
