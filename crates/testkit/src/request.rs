//! What the messages of a request are, on any wire: all that the legality of a request and its position in a script depend
//! on. A wire is a file beside this one, which also checks what only that wire demands.

mod chat;
pub(crate) mod message;
mod messages;
mod responses;

use serde_json::Value;
use windlass_provider::WireKind;

use self::message::RequestMessage;
use crate::script::ToolCalling;

/// A request as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadRequest {
    /// Its messages, in order.
    pub(crate) messages: Vec<RequestMessage>,
    /// Whether the model may call tools.
    pub(crate) tools: ToolCalling,
}

/// Reads the body of a request; the error says what this wire would refuse, and where.
pub(crate) fn read_request(wire: WireKind, body: &Value) -> Result<ReadRequest, String> {
    let messages = match wire {
        WireKind::Chat => chat::read(body),
        WireKind::Messages => messages::read(body),
        WireKind::Responses => responses::read(body),
    }?;
    Ok(ReadRequest { messages, tools: tools(wire, body)? })
}

/// Where the messages of a request stand.
pub(crate) fn message_list(wire: WireKind, body: &Value) -> &Value {
    match wire {
        WireKind::Chat | WireKind::Messages => &body["messages"],
        WireKind::Responses => &body["input"],
    }
}

fn tools(wire: WireKind, body: &Value) -> Result<ToolCalling, String> {
    let (tools, choice) = (&body["tools"], &body["tool_choice"]);
    if tools.as_array().is_some_and(Vec::is_empty) {
        return Err("`tools` is empty; it must be left out".to_owned());
    }
    if tools.is_null() && !choice.is_null() {
        return Err("`tool_choice` is given without `tools`".to_owned());
    }
    let is_withheld = match wire {
        WireKind::Chat | WireKind::Responses => choice == "none",
        WireKind::Messages => choice["type"] == "none",
    };
    Ok(if tools.is_null() || is_withheld { ToolCalling::Withheld } else { ToolCalling::Offered })
}

#[cfg(test)]
mod tests;
