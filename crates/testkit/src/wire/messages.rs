//! Renders a step as an Anthropic Messages server would. Reasoning is a block with a signature.

use serde_json::{Value, json};

use super::step_text::{MODEL, arguments, finish, fragments, id, named_event, sealed_reasoning, text};
use crate::script::{ReplyPace, ScriptStep, ScriptedCall};
use crate::stage::Cue;

/// The reply in one body.
pub(super) fn whole(cue: &Cue<'_>) -> Vec<u8> {
    let mut message = message(cue);
    let mut content = Vec::new();
    if !cue.step.thinking.is_empty() {
        content.push(json!({"type": "thinking", "thinking": cue.step.thinking, "signature": sealed_reasoning(cue)}));
    }
    let text = text(cue);
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    content.extend(cue.step.calls.iter().enumerate().map(|(index, call)| {
        let written = arguments(cue, call);
        let input = serde_json::from_str(&written).unwrap_or(Value::String(written));
        tool_use(cue, index, call, &input)
    }));
    message["content"] = Value::Array(content);
    message["stop_reason"] = json!(stop_reason(cue.step));
    message["usage"] = usage(cue.step, output_tokens(cue.step));
    message.to_string().into_bytes()
}

/// The reply as events, `message_stop` last.
pub(super) fn events(cue: &Cue<'_>, pace: &ReplyPace) -> Vec<Vec<u8>> {
    let step = cue.step;
    let mut events = vec![json!({"type": "message_start", "message": message(cue)}), json!({"type": "ping"})];
    let mut blocks = 0;
    let mut block = |begun: Value, deltas: Vec<Value>| {
        events.push(json!({"type": "content_block_start", "index": blocks, "content_block": begun}));
        events.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": blocks, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": blocks}));
        blocks += 1;
    };
    if !step.thinking.is_empty() {
        let thoughts = fragments(&step.thinking, pace).map(|text| json!({"type": "thinking_delta", "thinking": text}));
        let signature = json!({"type": "signature_delta", "signature": sealed_reasoning(cue)});
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), thoughts.chain([signature]).collect());
    }
    let text = text(cue);
    if !text.is_empty() {
        let words = fragments(&text, pace).map(|text| json!({"type": "text_delta", "text": text}));
        block(json!({"type": "text", "text": ""}), words.collect());
    }
    for (index, call) in step.calls.iter().enumerate() {
        let written = arguments(cue, call);
        let input = fragments(&written, pace).map(|text| json!({"type": "input_json_delta", "partial_json": text}));
        block(tool_use(cue, index, call, &json!({})), input.collect());
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(step), "stop_sequence": null},
        "usage": usage(step, output_tokens(step)),
    }));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(named_event).collect()
}

/// The event of an error in mid-stream.
pub(super) fn error_event(message: &str) -> Vec<u8> {
    named_event(&error(message, "overloaded_error"))
}

/// An error object.
pub(super) fn error(message: &str, kind: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
}

/// The kind of an error with this status.
pub(super) fn error_kind(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

/// The message as it begins.
fn message(cue: &Cue<'_>) -> Value {
    json!({
        "id": format!("msg_{}_{}", cue.scene, cue.number),
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(cue.step, 1),
    })
}

fn tool_use(cue: &Cue<'_>, index: usize, call: &ScriptedCall, input: &Value) -> Value {
    let mut block = json!({"type": "tool_use", "name": call.name, "input": input});
    if let Some(id) = id(cue, index, call) {
        block["id"] = json!(id);
    }
    block
}

fn stop_reason(step: &ScriptStep) -> &str {
    match finish(step) {
        "stop" => "end_turn",
        "tool_calls" => "tool_use",
        "length" => "max_tokens",
        "content_filter" => "refusal",
        other => other,
    }
}

fn output_tokens(step: &ScriptStep) -> u64 {
    step.usage.unwrap_or_default().completion
}

/// This wire counts what the cache was read and written for beside the rest of the input.
fn usage(step: &ScriptStep, output: u64) -> Value {
    let tokens = step.usage.unwrap_or_default();
    json!({
        "input_tokens": tokens.prompt.saturating_sub(tokens.cached).saturating_sub(tokens.cache_written),
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": tokens.cache_written,
        "output_tokens": output,
    })
}
