//! How a fake server treats HTTP itself.

use serde_json::Value;

/// How requests are answered. The default is an event stream, in a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpBehaviour {
    /// The form of an answer.
    pub answers: HttpAnswers,
    /// Sessions of the old revisions.
    pub session: HttpSession,
    /// What goes wrong, the first that fits.
    pub faults: Vec<HttpFault>,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpAnswers {
    /// An event stream.
    #[default]
    Events,
    /// One JSON document; what would be told in between is lost.
    Json,
}

/// What becomes of a session that the handshake began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpSession {
    /// It is kept.
    #[default]
    Kept,
    /// There is none.
    None,
    /// It is unknown (404) after so many messages.
    ForgottenAfter(u32),
}

/// Something that goes wrong with a request.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpFault {
    /// With which method of the protocol; with all of them if none is said.
    pub on: Option<String>,
    /// How many times.
    pub times: u32,
    /// What.
    pub kind: HttpFaultKind,
}

/// What may go wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpFaultKind {
    /// Another status, with a line of text and these headers.
    Status(u16, Vec<(String, String)>),
    /// Content of another type than promised: a page.
    Page,
    /// JSON that is not JSON.
    NotJson,
    /// The connection closes without a word.
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
    /// Something that goes wrong with a method, always.
    #[must_use]
    pub fn on(method: &str, kind: HttpFaultKind) -> Self {
        Self { on: Some(method.to_owned()), times: u32::MAX, kind }
    }

    /// The same, so many times.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct McpHttpRequest {
    /// Of HTTP.
    pub method: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The message; `null` where there is none.
    pub body: Value,
}

impl McpHttpRequest {
    /// The value of a header, its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
