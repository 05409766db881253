//! Calls as JSON: `{"name": …, "arguments": …}` and its relatives, one or a list of them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use windlass_vocab::ReplyCall;

use crate::repair::mend;

/// Keys that name a tool.
const NAMES: &[&str] = &["name", "tool", "tool_name", "function_name", "function", "action"];
/// Keys that hold arguments.
const ARGUMENTS: &[&str] = &["arguments", "parameters", "args", "input", "params", "action_input", "tool_input"];
/// Keys that hold a call, or several.
const CALLS: &[&str] = &["tool_calls", "function_calls", "calls", "tool_call", "function_call", "function"];
/// Other keys a call may have.
const BESIDES: &[&str] = &["server", "server_name", "id", "type", "thought", "reason", "reasoning"];

/// How deep calls are looked for.
const DEEPEST: usize = 4;
/// No key and no name is longer.
const LONGEST: usize = 128;

/// The first key of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstKey<'a> {
    /// More must come to tell.
    More,
    /// One that no call begins with.
    No,
    /// One that names a tool, with the name.
    Name(&'a str),
    /// Another one of a call.
    Other,
}

/// The first key of the object that `text` begins with.
pub(super) fn first_key(text: &str) -> FirstKey<'_> {
    let Some((key, rest)) = quoted(blank(&text[1..])) else {
        return if text.len() < LONGEST && is_open(blank(&text[1..])) { FirstKey::More } else { FirstKey::No };
    };
    let known = [NAMES, ARGUMENTS, CALLS, BESIDES].iter().any(|keys| keys.contains(&key));
    let Some(rest) = blank(rest).strip_prefix(':').filter(|_| known) else {
        return if known && blank(rest).is_empty() { FirstKey::More } else { FirstKey::No };
    };
    let value = blank(rest);
    if !NAMES.contains(&key) {
        return FirstKey::Other;
    }
    match quoted(value) {
        Some((name, _)) => FirstKey::Name(name),
        None if value.starts_with('{') && CALLS.contains(&key) => FirstKey::Other,
        None if value.len() < LONGEST && is_open(value) => FirstKey::More,
        None => FirstKey::No,
    }
}

fn blank(text: &str) -> &str {
    text.trim_start()
}

/// Whether `text` may become a string.
fn is_open(text: &str) -> bool {
    text.is_empty() || text.starts_with(['"', '\''])
}

/// The short string without escapes that `text` begins with, and what is behind it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &text[1..];
    let end = memchr::memchr(mark as u8, &inner.as_bytes()[..inner.len().min(LONGEST)])?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// The calls that `text` is, mended where needed; nothing where it is none.
pub(super) fn calls(text: &str) -> Option<Vec<ReplyCall>> {
    if let Ok(found) = calls_of(text, DEEPEST) {
        return found;
    }
    let mut calls = calls_of(&mend(text).ok()?.text, DEEPEST).ok()??;
    // What was mended is kept as it was written: whole with the first call, so that a long list of calls
    // does not become as many copies of itself.
    for (index, call) in calls.iter_mut().enumerate() {
        call.mended = Some(if index == 0 { text.to_owned() } else { call.arguments.clone() });
    }
    Some(calls)
}

/// The members of an object, their values as they are written.
type RawMembers<'a> = BTreeMap<String, &'a RawValue>;

/// The calls that well-formed JSON is; an error where it is not well-formed.
fn calls_of(text: &str, deep: usize) -> Result<Option<Vec<ReplyCall>>, serde_json::Error> {
    let Some(deep) = deep.checked_sub(1) else { return Ok(None) };
    let text = text.trim();
    if text.starts_with('[') {
        let mut calls = Vec::new();
        for one in serde_json::from_str::<Vec<&RawValue>>(text)? {
            match calls_of(one.get(), deep) {
                Ok(Some(found)) => calls.extend(found),
                Ok(None) | Err(_) => return Ok(None),
            }
        }
        return Ok((!calls.is_empty()).then_some(calls));
    }
    let members: RawMembers<'_> = serde_json::from_str(text)?;
    let within = CALLS.iter().filter_map(|key| members.get(*key)).find(|value| value.get().starts_with(['{', '[']));
    match within {
        Some(within) => calls_of(within.get(), deep),
        None => Ok(call(&members).map(|call| vec![call])),
    }
}

fn call(members: &RawMembers<'_>) -> Option<ReplyCall> {
    let text_of = |key: &str| members.get(key).and_then(|value| text_in(value.get()));
    let (key, name) = NAMES.iter().find_map(|key| Some((*key, text_of(key)?)))?;
    let name = match text_of("server_name").or_else(|| text_of("server")) {
        Some(server) if !server.is_empty() && !name.contains('.') => format!("{server}.{name}"),
        Some(_) | None => name,
    };
    let given = ARGUMENTS.iter().find_map(|key| members.get(*key));
    if members.contains_key("description") || given.is_some_and(|value| is_schema(value.get())) {
        // What a tool is, not a call of it.
        return None;
    }
    let arguments = match given {
        // Arguments may be JSON in a string.
        Some(value) => text_in(value.get()).unwrap_or_else(|| value.get().to_owned()),
        // Names are everywhere in JSON; only a key that speaks of tools makes the rest arguments.
        None if !["tool", "tool_name", "function_name"].contains(&key) => return None,
        None => rest(members, key)?,
    };
    Some(ReplyCall { provider_id: None, name, arguments, mended: None })
}

/// The text that a JSON string holds; nothing where it is no string.
fn text_in(json: &str) -> Option<String> {
    if json.starts_with('"') { serde_json::from_str(json).ok() } else { None }
}

fn is_schema(text: &str) -> bool {
    if !text.contains("\"properties\"") {
        return false;
    }
    let members: Option<RawMembers<'_>> = serde_json::from_str(text).ok();
    members.is_some_and(|members| {
        members.get("type").is_some_and(|kind| kind.get() == "\"object\"") && members.contains_key("properties")
    })
}

/// The members that say nothing about the call, as its arguments.
fn rest(members: &RawMembers<'_>, name: &str) -> Option<String> {
    let others = members.iter().filter(|(key, _)| key.as_str() != name && !BESIDES.contains(&key.as_str()));
    let mut arguments = Map::new();
    for (key, value) in others {
        arguments.insert(key.clone(), serde_json::from_str(value.get()).ok()?);
    }
    Some(Value::Object(arguments).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T4
    #[test]
    fn a_call_is_found_in_every_form_small_models_give_it() {
        for text in [
            r#"{"name": "t", "arguments": {"a": 1}}"#,
            r#"{"name": "t", "parameters": {"a": 1}}"#,
            r#"{"tool": "t", "args": {"a": 1}}"#,
            r#"{"tool": "t", "a": 1}"#,
            r#"{"tool_name": "t", "input": {"a": 1}}"#,
            r#"{"action": "t", "action_input": {"a": 1}}"#,
            r#"{"name": "t", "arguments": "{\"a\": 1}"}"#,
            r#"{"type": "function", "function": {"name": "t", "arguments": "{\"a\": 1}"}}"#,
            r#"{"function_call": {"name": "t", "arguments": {"a": 1}}}"#,
            r#"{"tool_calls": [{"id": "1", "function": {"name": "t", "arguments": {"a": 1}}}]}"#,
            r#"[{"name": "t", "arguments": {"a": 1}}]"#,
            r#"{'name': 't', 'arguments': {'a': 1,}}"#,
            r#"{"name": "t", "arguments": {"a": 1}"#,
        ] {
            let calls = calls(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((calls.len(), calls[0].name.as_str()), (1, "t"), "{text}");
            let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
            assert_eq!(arguments, serde_json::json!({"a": 1}), "{text}");
        }
        let both = calls(r#"[{"name": "a", "arguments": {}}, {"server": "s", "tool": "b"}]"#).unwrap();
        assert_eq!((both[0].name.as_str(), both[1].name.as_str()), ("a", "s.b"));
    }

    #[test]
    fn other_json_is_no_call() {
        for text in [
            r#"{"name": "t"}"#,
            r#"{"name": "t", "description": "does", "parameters": {}}"#,
            r#"{"name": "t", "parameters": {"type": "object", "properties": {}}}"#,
            r#"{"a": 1}"#,
            "[]",
            "[1]",
            "{}",
            "7",
            "x",
            r#"[{"name": "t", "arguments": {}}, 7]"#,
            r#"{"function": {"function": {"function": {"function": {"name": "t", "arguments": {}}}}}}"#,
        ] {
            assert_eq!(calls(text), None, "{text}");
        }
    }
}
