//! What can go wrong with a reply, as data.
//!
//! The faults of a step come in order: each strikes as many requests for that step as it says, then
//! the next; when all are spent the step is answered as written.

use serde::{Deserialize, Serialize};

/// A fault and how often it strikes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptedFault {
    /// How many requests for the step it strikes.
    #[serde(default = "once")]
    pub times: u32,
    /// What goes wrong.
    #[serde(flatten)]
    pub kind: FaultKind,
}

const fn once() -> u32 {
    1
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// Another status than 200.
    Status {
        /// The status.
        code: u16,
        /// The body; an error object that names the status unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        /// The `Retry-AfterSteps` header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
    },
    /// Silence before the first byte, then the reply as written.
    Delay {
        /// How long.
        ms: u64,
    },
    /// The connection closes in the middle of the body.
    Cut {
        /// Where.
        after: BodyPoint,
    },
    /// The body stops, and the connection stays open.
    Idle {
        /// Where.
        after: BodyPoint,
    },
    /// Bytes that are no stream and no JSON.
    Garbage,
    /// A web page, with status 200.
    Html,
    /// A stream of status 200 that carries an error object.
    ErrorObject {
        /// Where.
        after: BodyPoint,
        /// What it says.
        message: String,
    },
    /// A stream that ends without `[DONE]`.
    MissingDone,
    /// The reply as written, in writes that end exactly at these bytes of the body.
    Split {
        /// Where, ascending.
        at: Vec<usize>,
    },
    /// A line that never ends.
    EndlessLine {
        /// How many bytes are sent before the server gives up.
        bytes: u64,
    },
    /// The connection is accepted and closed without a byte.
    Refuse,
}

/// A place in the body of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyPoint {
    /// After so many bytes.
    Bytes(usize),
    /// After so many events of the stream; a whole answer is one.
    Events(usize),
}

impl FaultKind {
    /// Strikes `times` requests.
    #[must_use]
    pub const fn times(self, times: u32) -> ScriptedFault {
        ScriptedFault { times, kind: self }
    }

    /// A status with nothing more to say.
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
