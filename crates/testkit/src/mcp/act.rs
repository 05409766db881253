//! The actions of a fake server in response to a message.

use serde_json::{Value, json};

/// The id of a request, as received.
pub(super) type Id = Value;

/// One action. Actions are performed in order, except those in `After`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FakeAction {
    /// Sends a message, on the stream of the request `about` if there is one.
    Say { about: Option<Id>, message: Value },
    /// Sends these bytes as a line, on the stream of a request.
    Line { about: Id, bytes: Vec<u8> },
    /// Sends the first half of the answer to a request, without a line break.
    Half { about: Id, message: Value },
    /// Performs `acts` later.
    After { ms: u64, acts: Vec<FakeAction> },
    /// Writes this many bytes to standard error.
    Complain(u64),
    /// Sends `list_changed` notifications without end.
    FloodForEver,
    /// Stops reading its input.
    StopReading,
    /// Exits.
    Exit,
    /// Records a call in the diary.
    NoteCall(Box<super::McpCall>),
    /// Records that the client cancelled a request.
    NoteCancelled(Id),
}

impl FakeAction {
    /// The answer to a request.
    pub(super) fn answer(id: &Id, result: Value) -> Self {
        let mut message = json!({"jsonrpc": "2.0", "id": id});
        message["result"] = result;
        Self::Say { about: Some(id.clone()), message }
    }

    /// The error response to a request.
    pub(super) fn refuse(id: &Id, code: i64, message: &str) -> Self {
        let error = json!({"code": code, "message": message});
        Self::Say { about: Some(id.clone()), message: json!({"jsonrpc": "2.0", "id": id, "error": error}) }
    }

    /// A notification.
    pub(super) fn notify(about: Option<&Id>, method: &str, params: &Value) -> Self {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        Self::Say { about: about.cloned(), message }
    }
}
