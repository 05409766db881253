//! The faults of a scripted reply, as data.
//!
//! The faults of a step apply in order: each affects as many requests for that step as its `times` says, then comes
//! the next; after the last fault the step is answered as written.

use serde::{Deserialize, Serialize};

/// A fault and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptedFault {
    /// How many requests for the step it affects.
    #[serde(default = "once")]
    pub times: u32,
    /// The kind of fault.
    #[serde(flatten)]
    pub kind: FaultKind,
}

const fn once() -> u32 {
    1
}

/// The kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// A status other than 200.
    Status {
        /// The status.
        code: u16,
        /// The body; by default an error object that names the status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        /// The `Retry-After` header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
    },
    /// A pause before the first byte, then the reply as written.
    Delay {
        /// How long, in milliseconds.
        ms: u64,
    },
    /// The connection closes in the middle of the body.
    Cut {
        /// Where in the body.
        after: BodyPoint,
    },
    /// The body stops, and the connection stays open.
    Idle {
        /// Where in the body.
        after: BodyPoint,
    },
    /// Bytes that are neither an event stream nor JSON.
    Garbage,
    /// A web page, with status 200.
    Html,
    /// The reply as written, under this content type.
    ContentType {
        /// The value of the header.
        value: String,
    },
    /// An event stream with status 200 that contains an error object.
    ErrorObject {
        /// Where in the body.
        after: BodyPoint,
        /// The error message.
        message: String,
    },
    /// A stream whose last event is of another shape than those before it.
    OtherShape {
        /// Where in the body.
        after: BodyPoint,
        /// The data of the event.
        event: String,
    },
    /// A stream that ends without its last event. In Chat Completions that is `[DONE]`, which a client can do without;
    /// on the other wires it is what completes the reply.
    MissingDone,
    /// The reply as written, in writes that end exactly at these byte offsets of the body.
    Split {
        /// The offsets, ascending.
        at: Vec<usize>,
    },
    /// A line that never ends.
    EndlessLine {
        /// How many bytes are sent before the server closes the connection.
        bytes: u64,
    },
    /// The connection is accepted and closed without a byte.
    Refuse,
}

/// A place in the body of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyPoint {
    /// After this many bytes.
    Bytes(usize),
    /// After this many events of the stream; a reply that is not streamed is one event.
    Events(usize),
    /// After this many pieces of the reply: fragments of text, of reasoning or of a call. On every wire the client then
    /// has seen as much.
    Pieces(usize),
    /// After this many pieces and half of the event with the next one.
    HalfPiece(usize),
}

impl FaultKind {
    /// This fault for `times` requests.
    #[must_use]
    pub const fn times(self, times: u32) -> ScriptedFault {
        ScriptedFault { times, kind: self }
    }

    /// A status with the default body.
    #[must_use]
    pub const fn status(code: u16) -> Self {
        Self::Status { code, body: None, retry_after: None }
    }
}

impl From<FaultKind> for ScriptedFault {
    fn from(kind: FaultKind) -> Self {
        kind.times(once())
    }
}
