//! The messages of a Chat Completions request.

use serde_json::Value;

use super::message::{RequestMessage, SAYS_NOTHING, SeenIds, check_arguments, text_of};

/// Reads the messages of a request.
pub(super) fn read(body: &Value) -> Result<Vec<RequestMessage>, String> {
    let messages = body["messages"].as_array().ok_or("`messages` is missing or is no list")?;
    let read = |(at, message)| read_message(message).map_err(|what| format!("message {at}: {what}"));
    messages.iter().enumerate().map(read).collect()
}

fn read_message(message: &Value) -> Result<RequestMessage, String> {
    let content = &message["content"];
    let said = content.is_string() || content.as_array().is_some_and(|parts| !parts.is_empty());
    match message["role"].as_str() {
        Some("system" | "developer") if said => Ok(RequestMessage::System),
        Some("user") if said => Ok(RequestMessage::User(text_of(content))),
        Some("tool") if said => match message["tool_call_id"].as_str() {
            Some(id) if !id.is_empty() => Ok(RequestMessage::Result(id.to_owned())),
            _ => Err("a result without `tool_call_id`".to_owned()),
        },
        Some("assistant") => {
            let calls = call_ids(&message["tool_calls"])?;
            let speaks = content.as_str().is_some_and(|text| !text.is_empty()) || content.is_array() && said;
            if calls.is_empty() && !speaks { Err(SAYS_NOTHING.to_owned()) } else { Ok(RequestMessage::Reply { calls }) }
        }
        Some(role @ ("system" | "developer" | "user" | "tool")) => Err(format!("a {role} message without content")),
        Some(role) => Err(format!("unknown role `{role}`")),
        None => Err("`role` is missing".to_owned()),
    }
}

/// The ids of the calls of one message, after checking that each call is well-formed.
fn call_ids(calls: &Value) -> Result<Vec<String>, String> {
    let calls = match calls {
        Value::Null => return Ok(Vec::new()),
        Value::Array(calls) if !calls.is_empty() => calls,
        Value::Array(_) => return Err("`tool_calls` is empty; it must be left out".to_owned()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err("`tool_calls` is no list".to_owned());
        }
    };
    let mut seen = SeenIds::default();
    calls
        .iter()
        .map(|call| {
            let id = seen.read(&call["id"], "id")?;
            let function = &call["function"];
            if call["type"] != "function" || function["name"].as_str().is_none_or(str::is_empty) {
                return Err(format!("call `{id}` names no function"));
            }
            check_arguments(id, &function["arguments"])?;
            Ok(id.to_owned())
        })
        .collect()
}
