//! What the messages of a request are, on any wire: all that the legality of a request and its position in a script depend
//! on. A wire is a file beside this one, which also checks what only that wire demands.

mod chat;
mod messages;
mod responses;

use std::collections::HashSet;

use serde_json::Value;
use windlass_provider::WireKind;

use crate::script::ToolCalling;

/// A request as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadRequest {
    /// Its messages, in order.
    pub(crate) messages: Vec<RequestMessage>,
    /// Whether the model may call tools.
    pub(crate) tools: ToolCalling,
}

/// A message of a request, reduced to what matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestMessage {
    /// What the operator says.
    System,
    /// What a user says.
    User(String),
    /// A reply, with the ids of its calls.
    Reply {
        /// The ids, in order.
        calls: Vec<String>,
    },
    /// The result of the call with this id.
    Result(String),
}

pub(crate) const SAYS_NOTHING: &str = "an assistant message has neither content nor calls";

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

/// The text of a `content`, which is a string or a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// The ids of calls that were seen; none may come twice.
#[derive(Default)]
struct SeenIds<'a>(HashSet<&'a str>);

impl<'a> SeenIds<'a> {
    /// Reads the id of a call.
    fn read(&mut self, id: &'a Value, key: &str) -> Result<&'a str, String> {
        let id = id.as_str().filter(|id| !id.is_empty()).ok_or_else(|| format!("a call without `{key}`"))?;
        if self.0.insert(id) { Ok(id) } else { Err(format!("two calls have the id `{id}`")) }
    }
}

/// Checks that arguments are an object, written as text.
fn check_arguments(id: &str, arguments: &Value) -> Result<(), String> {
    match arguments.as_str().map(serde_json::from_str::<Value>) {
        Some(Ok(Value::Object(_))) => Ok(()),
        Some(Ok(_) | Err(_)) | None => Err(format!("the arguments of call `{id}` are no JSON object in a string")),
    }
}

#[cfg(test)]
mod tests;
