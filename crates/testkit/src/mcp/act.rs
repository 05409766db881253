//! What a fake server does about something it heard.

use serde_json::{Value, json};

/// The id of a request, as it came.
pub(super) type Id = Value;

/// One thing done. Done in order, but for what comes later.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FakeAction {
    /// Sends a message, in the course of a request where there is one.
    Say { about: Option<Id>, message: Value },
    /// Sends these bytes as a line, in the course of a request.
    Line { about: Id, bytes: Vec<u8> },
    /// Sends the first half of the message that answers a request, and no end of line.
    Half { about: Id, message: Value },
    /// Does the rest later.
    After { ms: u64, acts: Vec<FakeAction> },
    /// Writes to standard error.
    Complain(u64),
    /// Says again and again that the list changed.
    FloodForEver,
    /// Reads no more.
    StopReading,
    /// Is gone.
    Exit,
    /// Notes a call.
    NoteCall(Box<super::McpCall>),
    /// Notes that the client gave up a request.
    NoteCancelled(Id),
}

impl FakeAction {
    /// The answer to a request.
    pub(super) fn answer(id: &Id, result: Value) -> Self {
        let mut message = json!({"jsonrpc": "2.0", "id": id});
        message["result"] = result;
        Self::Say { about: Some(id.clone()), message }
    }

    /// The refusal of a request.
    pub(super) fn refuse(id: &Id, code: i64, message: &str) -> Self {
        let error = json!({"code": code, "message": message});
        Self::Say { about: Some(id.clone()), message: json!({"jsonrpc": "2.0", "id": id, "error": error}) }
    }

    /// Something told.
    pub(super) fn notify(about: Option<&Id>, method: &str, params: &Value) -> Self {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        Self::Say { about: about.cloned(), message }
    }
}
