//! As `any_bytes`, for the wires whose streams are made of named events: Messages and Responses.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use windlass_provider::messages::MessagesDraft;
use windlass_provider::responses::ResponseDraft;
use windlass_provider::{WireDraft, decode_whole};

use super::{decode_as, endpoint};

/// Words that a model may stream.
const TEXT: &str = "[a-z<>/ é🪝\n\"\\\\]{0,8}|<think>|</think>|\\{\"a\":";

/// A place in a list: often a small one that other events name, too, and sometimes one that makes no sense.
fn place() -> impl Strategy<Value = Value> {
    prop_oneof![6 => (0..3u32).prop_map(Value::from), 1 => Just(json!(4_000_000_000u64)), 1 => Just(json!("1"))]
}

/// An event of Messages with any contents, in any order.
fn messages_event() -> BoxedStrategy<Value> {
    let block = prop_oneof![
        Just(json!({"type": "text", "text": ""})),
        Just(json!({"type": "thinking", "thinking": "", "signature": ""})),
        Just(json!({"type": "redacted_thinking", "data": "x"})),
        Just(json!({"type": "tool_use", "id": "t", "name": "f", "input": {}})),
        Just(json!({"type": "server_tool_use", "id": "t", "name": "web_search"})),
    ];
    let delta = prop_oneof![
        TEXT.prop_map(|text| json!({"type": "text_delta", "text": text})),
        TEXT.prop_map(|text| json!({"type": "thinking_delta", "thinking": text})),
        TEXT.prop_map(|text| json!({"type": "input_json_delta", "partial_json": text})),
        Just(json!({"type": "signature_delta", "signature": "s"})),
        Just(json!({"type": "unknown_delta"})),
    ];
    let stop = prop_oneof![Just("end_turn"), Just("tool_use"), Just("max_tokens"), Just("refusal"), Just("else")];
    prop_oneof![
        Just(json!({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}})),
        Just(json!({"type": "ping"})),
        (place(), block).prop_map(|(index, block)| json!({
            "type": "content_block_start", "index": index, "content_block": block,
        })),
        (place(), delta).prop_map(|(index, delta)| json!({
            "type": "content_block_delta", "index": index, "delta": delta,
        })),
        place().prop_map(|index| json!({"type": "content_block_stop", "index": index})),
        (stop, any::<u64>()).prop_map(|(stop, output)| json!({
            "type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": output},
        })),
        Just(json!({"type": "message_stop"})),
        Just(json!({"type": "error", "error": {"type": "overloaded_error", "message": "no"}})),
    ]
    .boxed()
}

/// An item of Responses.
fn item() -> impl Strategy<Value = Value> {
    prop_oneof![
        TEXT.prop_map(|text| json!({
            "id": "i", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}],
        })),
        TEXT.prop_map(|text| json!({
            "id": "r", "type": "reasoning", "encrypted_content": "x", "summary": [{"type": "summary_text", "text": text}],
        })),
        TEXT.prop_map(|text| json!({
            "id": "c", "type": "function_call", "call_id": "c", "name": "f", "arguments": text,
        })),
        Just(json!({"id": "w", "type": "web_search_call"})),
        Just(json!({"type": 7})),
    ]
}

/// An event of Responses with any contents, in any order.
fn responses_event() -> BoxedStrategy<Value> {
    let delta = |kind: &'static str| {
        (place(), TEXT).prop_map(move |(index, text)| json!({
            "type": kind, "output_index": index, "item_id": "i", "content_index": 0, "summary_index": 0, "delta": text,
        }))
    };
    let ended = prop_oneof![Just("completed"), Just("incomplete"), Just("failed")];
    prop_oneof![
        Just(json!({"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress"}})),
        (place(), item()).prop_map(|(index, item)| json!({
            "type": "response.output_item.added", "output_index": index, "item": item,
        })),
        (place(), item()).prop_map(|(index, item)| json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        })),
        delta("response.output_text.delta"),
        delta("response.refusal.delta"),
        delta("response.reasoning_summary_text.delta"),
        delta("response.reasoning_text.delta"),
        delta("response.function_call_arguments.delta"),
        (ended, prop::collection::vec(item(), 0..3)).prop_map(|(ended, output)| json!({
            "type": format!("response.{ended}"),
            "response": {
                "id": "r", "model": "m", "status": ended, "output": output, "error": {"message": "no"},
                "incomplete_details": {"reason": "max_output_tokens"},
                "usage": {"input_tokens": 1, "output_tokens": 2},
            },
        })),
        Just(json!({"type": "error", "code": "server_error", "message": "no"})),
    ]
    .boxed()
}

/// A stream of such events, some of them damaged.
fn stream(event: BoxedStrategy<Value>) -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![6 => Just("\n\n"), 1 => Just("\r\n\r\n"), 1 => Just("\n: c\n\n"), 1 => Just("\n")];
    let written = (event, end).prop_map(|(event, end)| {
        let name = event["type"].as_str().unwrap_or("odd").to_owned();
        format!("event: {name}\ndata: {event}{end}").into_bytes()
    });
    let damaged = prop::collection::vec(any::<u8>(), 0..6);
    let fragment = prop_oneof![12 => written, 1 => damaged, 1 => Just(b"data: ".to_vec())];
    prop::collection::vec(fragment, 0..14).prop_map(|fragments| fragments.concat())
}

/// Decodes the bytes whole, cut in two and as a body; the cut changes nothing, and a reply was shown completely.
fn check<D: WireDraft>(bytes: &[u8], cut: usize) {
    let (whole, shown) = decode_as::<D>(&[bytes]);
    assert_eq!((whole.clone(), shown.clone()), decode_as::<D>(&[&bytes[..cut], &bytes[cut..]]));
    if let Ok(reply) = whole {
        shown.assert_covers_in_any_order(&reply);
    }
    let _ = decode_whole::<D>(&endpoint(), bytes);
}

proptest! {
    #![proptest_config(Config { cases: 512, failure_persistence: None, ..Config::default() })]

    // proves M1
    #[test]
    fn the_messages_codec_never_panics(bytes in stream(messages_event()), cut in any::<prop::sample::Index>()) {
        check::<MessagesDraft>(&bytes, cut.index(bytes.len() + 1));
    }

    // proves M1
    #[test]
    fn the_responses_codec_never_panics(bytes in stream(responses_event()), cut in any::<prop::sample::Index>()) {
        check::<ResponseDraft>(&bytes, cut.index(bytes.len() + 1));
    }
}
