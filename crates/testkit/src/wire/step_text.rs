//! What a step says, before a wire writes it.

use serde_json::Value;

use crate::script::{ReplyPace, ScriptStep, ScriptedCall};
use crate::stage::{Cue, call_id};

/// The model name that the server reports.
pub(crate) const MODEL: &str = "scripted";

/// The text of the reply.
pub(crate) fn text(cue: &Cue<'_>) -> String {
    numbered(cue, &cue.step.text)
}

/// The arguments of a call, as text.
pub(crate) fn arguments(cue: &Cue<'_>, call: &ScriptedCall) -> String {
    match &call.arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) => numbered(cue, text),
        value @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            numbered(cue, &value.to_string())
        }
    }
}

/// The provider's id of a call, if it has one.
pub(crate) fn id(cue: &Cue<'_>, index: usize, call: &ScriptedCall) -> Option<String> {
    let id = call.id.clone().unwrap_or_else(|| call_id(cue.scene, cue.number, index));
    (!id.is_empty()).then_some(id)
}

/// The `finish_reason` of the step, in the words of Chat Completions.
pub(crate) fn finish(step: &ScriptStep) -> &str {
    let natural = if step.calls.is_empty() { "stop" } else { "tool_calls" };
    step.finish.as_deref().unwrap_or(natural)
}

/// What only the model that reasoned can read of its reasoning: it names the step.
pub(crate) fn sealed_reasoning(cue: &Cue<'_>) -> String {
    format!("sealed-{}-{}", cue.scene, cue.number)
}

/// Splits text into pieces of `delta_chars` characters.
pub(crate) fn fragments<'a>(text: &'a str, pace: &ReplyPace) -> impl Iterator<Item = &'a str> {
    let size = pace.delta_chars.max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (fragment, tail) = rest.split_at(end);
        rest = tail;
        (!fragment.is_empty()).then_some(fragment)
    })
}

fn numbered(cue: &Cue<'_>, text: &str) -> String {
    text.replace("$STEP", &(cue.number + 1).to_string())
}

/// An event with its name, as the wires other than Chat Completions write it: the name stands in the data as well.
pub(super) fn named_event(value: &Value) -> Vec<u8> {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default()).into_bytes()
}
