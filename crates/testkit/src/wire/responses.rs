//! Renders a step as an OpenAI Responses server would. Reasoning is an item with a summary and its encrypted content.

use serde_json::{Value, json};

use super::step_text::{MODEL, arguments, finish, fragments, id, named_event, sealed_reasoning, text};
use crate::script::{ReplyPace, ScriptStep};
use crate::stage::Cue;

/// The beginnings of events with a piece of the reply.
const PIECES: [&[u8]; 4] = [
    b"event: response.output_text.delta\n",
    b"event: response.refusal.delta\n",
    b"event: response.reasoning_summary_text.delta\n",
    b"event: response.function_call_arguments.delta\n",
];

/// The reply in one body.
pub(super) fn whole(cue: &Cue<'_>) -> Vec<u8> {
    response(cue, ResponseState::Ended).to_string().into_bytes()
}

/// The reply as events; the last one repeats it as a whole.
pub(super) fn events(cue: &Cue<'_>, pace: &ReplyPace) -> Vec<Vec<u8>> {
    let mut events = vec![
        json!({"type": "response.created", "response": response(cue, ResponseState::Begun)}),
        json!({"type": "response.in_progress", "response": response(cue, ResponseState::Begun)}),
    ];
    for (place, item) in output(cue).iter().enumerate() {
        let mut begun = item.clone();
        let within = match item["type"].as_str() {
            Some("reasoning") => {
                begun["summary"] = json!([]);
                summary_events(item, place, pace)
            }
            Some("message") => {
                (begun["content"], begun["status"]) = (json!([]), json!("in_progress"));
                message_events(item, place, pace)
            }
            _ => {
                (begun["arguments"], begun["status"]) = (json!(""), json!("in_progress"));
                call_events(item, place, pace)
            }
        };
        events.push(json!({"type": "response.output_item.added", "output_index": place, "item": begun}));
        events.extend(within);
        events.push(json!({"type": "response.output_item.done", "output_index": place, "item": item}));
    }
    let ended = response(cue, ResponseState::Ended);
    events
        .push(json!({"type": format!("response.{}", ended["status"].as_str().unwrap_or_default()), "response": ended}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events.iter().map(named_event).collect()
}

/// The event of an error in mid-stream.
pub(super) fn error_event(message: &str) -> Vec<u8> {
    let (kind, code) = ("error", "server_error");
    named_event(&json!({"type": kind, "code": code, "message": message, "param": null, "sequence_number": 0}))
}

/// Whether an event is the last of a stream.
pub(super) fn is_end(event: &[u8]) -> bool {
    event.starts_with(b"event: response.completed\n") || event.starts_with(b"event: response.incomplete\n")
}

/// Whether an event has a piece of the reply.
pub(super) fn has_piece(event: &[u8]) -> bool {
    PIECES.iter().any(|piece| event.starts_with(piece))
}

/// How far a response has come.
#[derive(Clone, Copy)]
enum ResponseState {
    Begun,
    Ended,
}

fn response(cue: &Cue<'_>, state: ResponseState) -> Value {
    let (status, details) = match (state, finish(cue.step)) {
        (ResponseState::Begun, _) => ("in_progress", Value::Null),
        (ResponseState::Ended, "length") => ("incomplete", json!({"reason": "max_output_tokens"})),
        (ResponseState::Ended, "content_filter") => ("incomplete", json!({"reason": "content_filter"})),
        (ResponseState::Ended, _) => ("completed", Value::Null),
    };
    let (output, usage) = match state {
        ResponseState::Begun => (Vec::new(), Value::Null),
        ResponseState::Ended => (output(cue), usage(cue.step)),
    };
    json!({
        "id": format!("resp_{}_{}", cue.scene, cue.number),
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": MODEL,
        "output": output,
        "parallel_tool_calls": true,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    })
}

/// The items of the reply, whole.
fn output(cue: &Cue<'_>) -> Vec<Value> {
    let (step, text, name) = (cue.step, text(cue), format!("{}_{}", cue.scene, cue.number));
    let mut items = Vec::new();
    if !step.thinking.is_empty() {
        items.push(json!({
            "type": "reasoning",
            "id": format!("rs_{name}"),
            "summary": [{"type": "summary_text", "text": step.thinking}],
            "encrypted_content": sealed_reasoning(cue),
        }));
    }
    if !text.is_empty() {
        let part = match finish(step) {
            "refusal" => json!({"type": "refusal", "refusal": text}),
            _ => json!({"type": "output_text", "text": text, "annotations": []}),
        };
        let (id, status) = (format!("msg_{name}"), "completed");
        items.push(json!({"type": "message", "id": id, "status": status, "role": "assistant", "content": [part]}));
    }
    items.extend(step.calls.iter().enumerate().map(|(index, call)| {
        let mut item = json!({
            "type": "function_call",
            "id": format!("fc_{name}_{index}"),
            "status": "completed",
            "name": call.name,
            "arguments": arguments(cue, call),
        });
        if let Some(id) = id(cue, index, call) {
            item["call_id"] = json!(id);
        }
        item
    }));
    items
}

fn summary_events(item: &Value, place: usize, pace: &ReplyPace) -> Vec<Value> {
    let part = &item["summary"][0];
    let event = |kind: &str, key: &str, value: &Value| {
        let kind = format!("response.reasoning_summary_{kind}");
        json!({"type": kind, "item_id": item["id"], "output_index": place, "summary_index": 0, key: value})
    };
    let text = part["text"].as_str().unwrap_or_default();
    let mut events = vec![event("part.added", "part", &json!({"type": "summary_text", "text": ""}))];
    events.extend(fragments(text, pace).map(|text| event("text.delta", "delta", &json!(text))));
    events.push(event("text.done", "text", &json!(text)));
    events.push(event("part.done", "part", part));
    events
}

fn message_events(item: &Value, place: usize, pace: &ReplyPace) -> Vec<Value> {
    let part = &item["content"][0];
    let (key, kind) = if part["type"] == "refusal" { ("refusal", "refusal") } else { ("text", "output_text") };
    let event = |kind: &str, key: &str, value: &Value| {
        let mut event = json!({"item_id": item["id"], "output_index": place, "content_index": 0, key: value});
        if kind.starts_with("output_text") {
            event["logprobs"] = json!([]);
        }
        event["type"] = json!(format!("response.{kind}"));
        event
    };
    let text = part[key].as_str().unwrap_or_default();
    let mut begun = part.clone();
    begun[key] = json!("");
    let mut events = vec![event("content_part.added", "part", &begun)];
    events.extend(fragments(text, pace).map(|text| event(&format!("{kind}.delta"), "delta", &json!(text))));
    events.push(event(&format!("{kind}.done"), key, &json!(text)));
    events.push(event("content_part.done", "part", part));
    events
}

fn call_events(item: &Value, place: usize, pace: &ReplyPace) -> Vec<Value> {
    let event = |kind: &str, key: &str, value: &Value| {
        let kind = format!("response.function_call_arguments.{kind}");
        json!({"type": kind, "item_id": item["id"], "output_index": place, "name": item["name"], key: value})
    };
    let written = item["arguments"].as_str().unwrap_or_default();
    let mut events: Vec<Value> = fragments(written, pace).map(|text| event("delta", "delta", &json!(text))).collect();
    events.push(event("done", "arguments", &item["arguments"]));
    events
}

fn usage(step: &ScriptStep) -> Value {
    let tokens = step.usage.unwrap_or_default();
    json!({
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": tokens.cache_written},
        "output_tokens": tokens.completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens.prompt + tokens.completion,
    })
}
