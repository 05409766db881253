//! The messages of an Anthropic Messages request, and what that API refuses.

use serde_json::Value;

use super::message::{RequestMessage, SAYS_NOTHING, SeenIds};

/// How many marks for the cache a request may have.
const MOST_MARKS: usize = 4;

/// Reads the messages of a request. A message of the user may have several: results, and what is said behind them.
pub(super) fn read(body: &Value) -> Result<Vec<RequestMessage>, String> {
    check_parameters(body)?;
    let messages = body["messages"].as_array().ok_or("`messages` is missing or is no list")?;
    let mut read = Vec::new();
    let mut last_role = "";
    let mut seen = SeenIds::default();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == last_role {
            return Err(format!("message {at}: two messages in a row of the role `{role}`"));
        }
        last_role = role;
        let found = match role {
            "user" => read_user(&message["content"]),
            "assistant" => {
                read_reply(&message["content"], &mut seen).map(|calls| vec![RequestMessage::Reply { calls }])
            }
            _ => Err(format!("unknown role `{role}`")),
        };
        read.extend(found.map_err(|what| format!("message {at}: {what}"))?);
    }
    check_thinking(body, messages)?;
    Ok(read)
}

fn check_parameters(body: &Value) -> Result<(), String> {
    let limit =
        body["max_tokens"].as_u64().filter(|limit| *limit > 0).ok_or("`max_tokens` is missing or is no number")?;
    let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
    if budget >= limit {
        return Err(format!("the budget of {budget} tokens to think is not below `max_tokens`"));
    }
    if body["temperature"].as_f64().is_some_and(|temperature| temperature > 1.0) {
        return Err("`temperature` is above 1".to_owned());
    }
    if budget > 0 && !body["temperature"].is_null() {
        return Err("`temperature` is given to a model that thinks".to_owned());
    }
    let marks = count_marks(body);
    if marks > MOST_MARKS {
        return Err(format!("{marks} blocks have `cache_control`; {MOST_MARKS} may"));
    }
    Ok(())
}

/// How many blocks are marked for the cache, anywhere in the request.
fn count_marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            usize::from(fields.contains_key("cache_control")) + fields.values().map(count_marks).sum::<usize>()
        }
        Value::Array(values) => values.iter().map(count_marks).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn blocks(content: &Value) -> Result<Vec<&Value>, String> {
    match content {
        Value::Array(blocks) if !blocks.is_empty() => Ok(blocks.iter().collect()),
        _ => Err("`content` is no list of blocks".to_owned()),
    }
}

fn read_user(content: &Value) -> Result<Vec<RequestMessage>, String> {
    let read = |block: &Value| match block["type"].as_str() {
        Some("text") => Ok(Some(RequestMessage::User(text(block)?.to_owned()))),
        // An image belongs to the text before it.
        Some("image") if block["source"]["data"].as_str().is_some_and(|data| !data.is_empty()) => Ok(None),
        Some("tool_result") => match block["tool_use_id"].as_str() {
            Some(id) if !id.is_empty() => Ok(Some(RequestMessage::Result(id.to_owned()))),
            Some(_) | None => Err("a result without `tool_use_id`".to_owned()),
        },
        kind => Err(format!("a block of the type {kind:?} in a user message")),
    };
    blocks(content)?.into_iter().filter_map(|block| read(block).transpose()).collect()
}

/// Reads a reply; returns the ids of its calls.
fn read_reply<'a>(content: &'a Value, seen: &mut SeenIds<'a>) -> Result<Vec<String>, String> {
    let blocks = blocks(content).map_err(|_| SAYS_NOTHING.to_owned())?;
    let mut calls = Vec::new();
    for block in &blocks {
        match block["type"].as_str() {
            Some("text") => drop(text(block)?),
            Some("thinking") if block["signature"].as_str().is_none_or(str::is_empty) => {
                return Err("a block of thinking without its signature".to_owned());
            }
            Some("tool_use") => calls.push(read_call(block, seen)?),
            Some(_) => {}
            None => return Err("a block without a type".to_owned()),
        }
    }
    match blocks.last().and_then(|block| block["type"].as_str()) {
        Some("thinking" | "redacted_thinking") => Err("nothing follows the last block of thinking".to_owned()),
        Some(_) | None => Ok(calls),
    }
}

fn read_call<'a>(block: &'a Value, seen: &mut SeenIds<'a>) -> Result<String, String> {
    let id = seen.read(&block["id"], "id")?;
    if id.bytes().any(|byte| !byte.is_ascii_alphanumeric() && byte != b'_' && byte != b'-') {
        return Err(format!("the id `{id}` has characters that this API refuses"));
    }
    if block["name"].as_str().is_none_or(str::is_empty) {
        return Err(format!("call `{id}` names no tool"));
    }
    if !block["input"].is_object() {
        return Err(format!("the input of call `{id}` is no JSON object"));
    }
    Ok(id.to_owned())
}

fn text(block: &Value) -> Result<&str, String> {
    let text = block["text"].as_str().filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| "a block of text without text".to_owned())
}

/// With a budget to think, the reply whose calls were just answered must begin with thinking.
fn check_thinking(body: &Value, messages: &[Value]) -> Result<(), String> {
    let answered = |message: &Value| message["content"].as_array().is_some_and(|all| all[0]["type"] == "tool_result");
    if body["thinking"]["type"] != "enabled" || !messages.last().is_some_and(answered) {
        return Ok(());
    }
    let reply = messages.iter().rev().nth(1).map_or(&Value::Null, |reply| &reply["content"][0]["type"]);
    match reply.as_str() {
        Some("thinking" | "redacted_thinking") => Ok(()),
        Some(_) | None => Err("a model that thinks was given back calls without its thinking".to_owned()),
    }
}
