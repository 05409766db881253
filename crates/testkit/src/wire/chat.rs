//! Renders a step as an OpenAI Chat Completions server would: whole, or as the events of a stream.

use serde_json::{Value, json};

use super::step_text::{MODEL, arguments, finish, fragments, id, text};
use crate::script::{ReplyPace, ScriptStep, ScriptedCall};
use crate::stage::Cue;

/// The end of a stream.
const DONE: &[u8] = b"data: [DONE]\n\n";

/// The reply in one body.
pub(super) fn whole(cue: &Cue<'_>) -> Vec<u8> {
    let step = cue.step;
    let mut message = json!({"role": "assistant", "content": content(cue)});
    if !step.thinking.is_empty() {
        message["reasoning_content"] = json!(step.thinking);
    }
    if !step.calls.is_empty() {
        message["tool_calls"] =
            step.calls.iter().enumerate().map(|(index, call)| whole_call(cue, index, call)).collect();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish(step)});
    json!({
        "id": format!("chatcmpl-{}-{}", cue.scene, cue.number),
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [choice],
        "usage": usage(step),
    })
    .to_string()
    .into_bytes()
}

/// The reply as events, each with its blank line, `[DONE]` last.
pub(super) fn events(cue: &Cue<'_>, pace: &ReplyPace) -> Vec<Vec<u8>> {
    let step = cue.step;
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.extend(fragments(&step.thinking, pace).map(|text| json!({"reasoning_content": text})));
    deltas.extend(fragments(&text(cue), pace).map(|text| json!({"content": text})));
    for (index, call) in step.calls.iter().enumerate() {
        let mut first = json!({"index": index, "type": "function", "function": {"name": call.name, "arguments": ""}});
        if let Some(id) = id(cue, index, call) {
            first["id"] = json!(id);
        }
        deltas.push(json!({"tool_calls": [first]}));
        let rest = arguments(cue, call);
        deltas.extend(
            fragments(&rest, pace)
                .map(|text| json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]})),
        );
    }
    let chunks = deltas.into_iter().map(|delta| json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let last = json!([{"index": 0, "delta": {}, "finish_reason": finish(step)}]);
    let mut events: Vec<_> = chunks.chain([last]).map(|choices| chunk(cue, &choices, &Value::Null)).collect();
    events.push(chunk(cue, &json!([]), &usage(step)));
    events.push(DONE.to_vec());
    events
}

/// The event of an error in mid-stream.
pub(super) fn error_event(message: &str) -> Vec<u8> {
    event(&error(message, "server_error"))
}

/// An error object; that of Responses is the same.
pub(super) fn error(message: &str, kind: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}

/// Whether an event is the last of a stream.
pub(super) fn is_end(event: &[u8]) -> bool {
    event == DONE
}

/// Whether an event has a piece of the reply. Quotes inside a JSON string are escaped, so these bytes are keys.
pub(super) fn has_piece(event: &[u8]) -> bool {
    let holds = |bytes: &[u8]| memchr::memmem::find(event, bytes).is_some();
    holds(br#""finish_reason":null"#) && !holds(br#""role":"assistant""#)
}

fn content(cue: &Cue<'_>) -> Value {
    let text = text(cue);
    if text.is_empty() && !cue.step.calls.is_empty() { Value::Null } else { Value::String(text) }
}

fn whole_call(cue: &Cue<'_>, index: usize, call: &ScriptedCall) -> Value {
    let function = json!({"name": call.name, "arguments": arguments(cue, call)});
    match id(cue, index, call) {
        Some(id) => json!({"id": id, "type": "function", "function": function}),
        None => json!({"type": "function", "function": function}),
    }
}

fn usage(step: &ScriptStep) -> Value {
    let tokens = step.usage.unwrap_or_default();
    let mut usage = json!({
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.completion,
        "total_tokens": tokens.prompt + tokens.completion,
    });
    if tokens.cached > 0 {
        usage["prompt_tokens_details"] = json!({"cached_tokens": tokens.cached});
    }
    usage
}

fn chunk(cue: &Cue<'_>, choices: &Value, usage: &Value) -> Vec<u8> {
    event(&json!({
        "id": format!("chatcmpl-{}-{}", cue.scene, cue.number),
        "object": "chat.completion.chunk",
        "created": 0,
        "model": MODEL,
        "choices": choices,
        "usage": usage,
    }))
}

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{events, has_piece, whole};
    use crate::script::{ReplyPace, ScriptStep};
    use crate::stage::Cue;

    fn cue(step: &ScriptStep) -> Cue<'_> {
        Cue { scene: 0, number: 3, step, fault: None }
    }

    fn decoded(events: &[Vec<u8>]) -> Vec<Value> {
        let texts = events.iter().map(|event| std::str::from_utf8(event).unwrap().trim().trim_start_matches("data: "));
        texts.filter(|text| *text != "[DONE]").map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    #[test]
    fn a_whole_reply_carries_text_reasoning_calls_and_cost() {
        let step = ScriptStep::say("try $STEP").thinking("hm").and_call("t", json!({"n": "$STEP"})).usage(5, 7);
        let body: Value = serde_json::from_slice(&whole(&cue(&step))).unwrap();
        let message = &body["choices"][0]["message"];
        assert_eq!(message["content"], "try 4");
        assert_eq!(message["reasoning_content"], "hm");
        assert_eq!(message["tool_calls"][0]["id"], "call_0_3_0");
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"n":"4"}"#);
        assert_eq!(body["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(body["usage"]["total_tokens"], 12);
    }

    #[test]
    fn a_stream_adds_up_to_the_same_reply() {
        let step = ScriptStep::say("one two three").and_call("t", json!({"path": "a/long/enough/path"}));
        let pace = ReplyPace { delta_chars: 5, ..ReplyPace::default() };
        let chunks = decoded(&events(&cue(&step), &pace));
        let deltas: Vec<&Value> = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]).collect();
        let text: String = deltas.iter().filter_map(|delta| delta["content"].as_str()).collect();
        let arguments: String =
            deltas.iter().filter_map(|delta| delta["tool_calls"][0]["function"]["arguments"].as_str()).collect();
        assert_eq!(text, "one two three");
        assert_eq!(arguments, r#"{"path":"a/long/enough/path"}"#);
        assert_eq!(chunks[chunks.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(chunks[chunks.len() - 1]["choices"], json!([]));
        // Three of text, the name of the call, and its arguments.
        assert_eq!(events(&cue(&step), &pace).iter().filter(|event| has_piece(event)).count(), 3 + 1 + 6);
    }

    #[test]
    fn arguments_given_as_a_string_are_sent_as_they_stand() {
        let step = ScriptStep::call("t", json!("{\"broken\": "));
        let body: Value = serde_json::from_slice(&whole(&cue(&step))).unwrap();
        assert_eq!(body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{\"broken\": ");
    }
}
