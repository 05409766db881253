//! Calls as JSON: `{"name": …, "arguments": …}` and variants of it, one or a list of them.

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

/// The maximum nesting in which calls are searched.
const DEEPEST: usize = 4;
/// The maximum length of a key or name.
const LONGEST: usize = 128;

/// The first key of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstKey<'a> {
    /// Undecided until more text arrives.
    More,
    /// A key that no call begins with.
    No,
    /// A key that names a tool, with the tool's name.
    Name(&'a str),
    /// Another key of a call.
    Other,
}

/// Returns the first key of the object at the beginning of `text`.
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

/// Splits off the short string without escapes at the beginning of `text`; returns it and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &text[1..];
    let end = memchr::memchr(mark as u8, &inner.as_bytes()[..inner.len().min(LONGEST)])?;
    Some((&inner[..end], &inner[end + 1..]))
}

/// Parses `text` as calls, repaired where needed. Returns `None` if it is not a call.
pub(super) fn calls(text: &str) -> Option<Vec<ReplyCall>> {
    if let Ok(found) = calls_of(text, DEEPEST) {
        return found;
    }
    if let Some(found) = several(text) {
        return Some(found);
    }
    let mut calls = match doubled(text) {
        Some(calls) => calls,
        None => calls_of(&mend(text).ok()?.text, DEEPEST).ok()??,
    };
    // Repaired calls keep their original text: all of it with the first call, so that a long list of calls does not
    // store one copy per call.
    for (index, call) in calls.iter_mut().enumerate() {
        call.mended = Some(if index == 0 { text.to_owned() } else { call.arguments.clone() });
    }
    Some(calls)
}

/// Parses several objects that follow each other without a list around them.
fn several(text: &str) -> Option<Vec<ReplyCall>> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let values: Vec<&RawValue> = values.collect::<Result<_, _>>().ok()?;
    let mut calls = Vec::new();
    for value in &values {
        calls.extend(calls_of(value.get(), DEEPEST).ok()??);
    }
    (values.len() > 1).then_some(calls)
}

/// Parses an object with doubled braces, which the templates of some models show: all are doubled, or only the outermost.
fn doubled(text: &str) -> Option<Vec<ReplyCall>> {
    let inner = text.trim().strip_prefix('{').filter(|inner| inner.starts_with('{'))?;
    let all = text.replace("{{", "{").replace("}}", "}");
    let outermost = [inner.strip_suffix('}').unwrap_or(inner), inner];
    outermost.into_iter().chain([all.as_str()]).find_map(|text| calls_of(text, DEEPEST).ok()?)
}

/// The members of an object, with unparsed values.
type RawMembers<'a> = BTreeMap<String, &'a RawValue>;

/// Parses well-formed JSON as calls; an error if it is not well-formed.
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
        // The definition of a tool, not a call of it.
        return None;
    }
    let arguments = match given {
        // Arguments may be JSON in a string.
        Some(value) => text_in(value.get()).unwrap_or_else(|| value.get().to_owned()),
        // `name` is common in JSON; only a key specific to tools makes the other members arguments.
        None if !["tool", "tool_name", "function_name"].contains(&key) => return None,
        None => rest(members, key)?,
    };
    Some(ReplyCall { provider_id: None, name, arguments, mended: None })
}

/// Returns the text of a JSON string, or `None` if it is not a string.
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

/// Returns the members that are not about the call itself, as its arguments.
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
            r#"{{"name": "t", "arguments": {{"a": 1}}}}"#,
            r#"{{"name": "t", "arguments": {"a": 1}}}"#,
            r#"{{"name": "t", "arguments": {"a": 1}}"#,
        ] {
            let calls = calls(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((calls.len(), calls[0].name.as_str()), (1, "t"), "{text}");
            let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
            assert_eq!(arguments, serde_json::json!({"a": 1}), "{text}");
        }
        for text in [
            r#"[{"name": "a", "arguments": {}}, {"server": "s", "tool": "b"}]"#,
            "{\"name\": \"a\", \"arguments\": {}}\n{\"server\": \"s\", \"tool\": \"b\"}",
        ] {
            let both = calls(text).unwrap();
            assert_eq!((both[0].name.as_str(), both[1].name.as_str()), ("a", "s.b"), "{text}");
        }
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
            r#"{"name": "t", "arguments": {}} 7"#,
            r#"{"function": {"function": {"function": {"function": {"name": "t", "arguments": {}}}}}}"#,
        ] {
            assert_eq!(calls(text), None, "{text}");
        }
    }
}
