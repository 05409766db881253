//! The input items of an OpenAI Responses request, and what that API refuses of a client that stores nothing there.

use serde_json::Value;

use super::message::{RequestMessage, SAYS_NOTHING, SeenIds, check_arguments, text_of};

/// Reads the input of a request. The items of one reply stand together.
pub(super) fn read(body: &Value) -> Result<Vec<RequestMessage>, String> {
    let items = body["input"].as_array().ok_or("`input` is missing or is no list")?;
    let mut read: Vec<RequestMessage> = Vec::new();
    let mut seen = SeenIds::default();
    for (at, item) in items.iter().enumerate() {
        let found = read_item(item, items.get(at + 1), &mut seen).map_err(|what| format!("item {at}: {what}"))?;
        match (found, read.last_mut()) {
            (RequestMessage::Reply { calls: more }, Some(RequestMessage::Reply { calls })) => calls.extend(more),
            (found, _) => read.push(found),
        }
    }
    Ok(read)
}

fn read_item<'a>(item: &'a Value, next: Option<&Value>, seen: &mut SeenIds<'a>) -> Result<RequestMessage, String> {
    match item["type"].as_str() {
        None | Some("message") => read_message(item),
        Some("reasoning") => {
            let is_sealed = item["encrypted_content"].as_str().is_some_and(|text| !text.is_empty());
            if !is_sealed || !item["summary"].is_array() {
                return Err("reasoning without its summary or its encrypted content".to_owned());
            }
            match next {
                Some(next) if is_output(next) => Ok(RequestMessage::Reply { calls: Vec::new() }),
                Some(_) | None => Err("nothing follows the reasoning".to_owned()),
            }
        }
        Some("function_call") => {
            let id = seen.read(&item["call_id"], "call_id")?;
            if item["name"].as_str().is_none_or(str::is_empty) {
                return Err(format!("call `{id}` names no function"));
            }
            check_arguments(id, &item["arguments"])?;
            Ok(RequestMessage::Reply { calls: vec![id.to_owned()] })
        }
        Some("function_call_output") => match (item["call_id"].as_str(), &item["output"]) {
            (Some(id), Value::String(_) | Value::Array(_)) if !id.is_empty() => {
                Ok(RequestMessage::Result(id.to_owned()))
            }
            _ => Err("a result without `call_id` or `output`".to_owned()),
        },
        Some(kind) => Err(format!("unknown type `{kind}`")),
    }
}

/// Whether an item is one that reasoning leads to.
fn is_output(item: &Value) -> bool {
    match item["type"].as_str() {
        Some("reasoning" | "function_call") => true,
        None | Some("message") => item["role"] == "assistant",
        Some(_) => false,
    }
}

fn read_message(item: &Value) -> Result<RequestMessage, String> {
    let text = text_of(&item["content"]);
    match item["role"].as_str() {
        Some("system" | "developer") => Ok(RequestMessage::System),
        Some("user") if !text.is_empty() => Ok(RequestMessage::User(text)),
        Some("user") => Err("a user message without content".to_owned()),
        Some("assistant") if text.is_empty() => Err(SAYS_NOTHING.to_owned()),
        Some("assistant") => Ok(RequestMessage::Reply { calls: Vec::new() }),
        Some(role) => Err(format!("unknown role `{role}`")),
        None => Err("`role` is missing".to_owned()),
    }
}
