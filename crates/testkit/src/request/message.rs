//! A message of a request, on any wire, and what the wires share in reading one.

use std::collections::HashSet;

use serde_json::Value;

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

/// The text of a `content`, which is a string or a list of parts.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// The ids of calls that were seen; none may come twice.
#[derive(Default)]
pub(super) struct SeenIds<'a>(HashSet<&'a str>);

impl<'a> SeenIds<'a> {
    /// Reads the id of a call.
    pub(super) fn read(&mut self, id: &'a Value, key: &str) -> Result<&'a str, String> {
        let id = id.as_str().filter(|id| !id.is_empty()).ok_or_else(|| format!("a call without `{key}`"))?;
        if self.0.insert(id) { Ok(id) } else { Err(format!("two calls have the id `{id}`")) }
    }
}

/// Checks that arguments are an object, written as text.
pub(super) fn check_arguments(id: &str, arguments: &Value) -> Result<(), String> {
    match arguments.as_str().map(serde_json::from_str::<Value>) {
        Some(Ok(Value::Object(_))) => Ok(()),
        Some(Ok(_) | Err(_)) | None => Err(format!("the arguments of call `{id}` are no JSON object in a string")),
    }
}
