//! Answers on the Messages wire, streamed and whole.

use serde_json::{Value, json};
use windlass_provider::messages::MessagesDraft;
use windlass_provider::{Rejection, RetryHeaders, classify, decode_whole};
use windlass_vocab::{Failure, FailureClass, Json, Part, Reply, StopReason, Usage};

use super::{Shown, decode_as, endpoint};

fn decode(pushes: &[&[u8]]) -> (Result<Reply, Failure>, Shown) {
    decode_as::<MessagesDraft>(pushes)
}

fn stream(events: &[Value]) -> String {
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x"));
    events.iter().map(line).collect()
}

fn start(index: u32, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

/// A stream with every kind of block, and things that are not known.
fn everything() -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"model": "claude-x", "content": [], "usage": {
            "input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30, "output_tokens": 1,
        }}}),
        json!({"type": "ping"}),
        start(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "Let me "})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "see \u{1fa9d}."})),
        delta(0, &json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        start(1, &json!({"type": "redacted_thinking", "data": "b3BhcXVl"})),
        stop(1),
        start(2, &json!({"type": "text", "text": ""})),
        delta(2, &json!({"type": "text_delta", "text": "Look"})),
        delta(2, &json!({"type": "citations_delta", "citation": {"url": "https://a.test"}})),
        delta(2, &json!({"type": "text_delta", "text": "ing."})),
        stop(2),
        start(3, &json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}})),
        delta(3, &json!({"type": "input_json_delta", "partial_json": "{\"q\":"})),
        delta(3, &json!({"type": "input_json_delta", "partial_json": "\"x\"}"})),
        stop(3),
        json!({"type": "something_new", "index": 3}),
        start(4, &json!({"type": "block_to_come", "data": 1})),
        delta(4, &json!({"type": "delta_to_come", "more": 2})),
        stop(4),
        start(5, &json!({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}})),
        delta(5, &json!({"type": "input_json_delta", "partial_json": ""})),
        delta(5, &json!({"type": "input_json_delta", "partial_json": "{\"path\": \"a"})),
        delta(5, &json!({"type": "input_json_delta", "partial_json": ".txt\"}"})),
        stop(5),
        start(6, &json!({"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}})),
        stop(6),
    ];
    events.extend(end("tool_use"));
    events
}

// proves M1, M4, M5
#[test]
fn the_blocks_of_a_stream_are_the_parts_of_the_reply_in_order() {
    let body = stream(&everything());
    let (reply, shown) = decode(&[body.as_bytes()]);
    let reply = reply.unwrap();
    let item = |json: Value| Part::Opaque { item: Json::from(&json) };
    assert_eq!(
        reply.parts,
        [
            Part::Thinking { text: "Let me see \u{1fa9d}.".into(), signature: Some("c2ln".into()) },
            item(json!({"type": "redacted_thinking", "data": "b3BhcXVl"})),
            Part::Text { text: "Looking.".into() },
            item(json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"q": "x"}})),
            Part::Call { index: 0 },
            Part::Call { index: 1 },
        ]
    );
    let calls: Vec<_> = reply.calls.iter().map(|call| (call.provider_id.as_deref(), call.name.as_str())).collect();
    assert_eq!(calls, [(Some("toolu_1"), "read_file"), (Some("toolu_2"), "list")]);
    assert_eq!([&reply.calls[0].arguments, &reply.calls[1].arguments], [r#"{"path": "a.txt"}"#, "{}"]);
    assert_eq!((reply.stop, reply.model.as_deref()), (StopReason::Calls, Some("claude-x")));
    let usage = Usage { input: 240, output: 9, cached: 200, cache_written: 30, calls: 1, ..Usage::default() };
    assert_eq!(reply.usage, Some(usage));
    shown.assert_covers(&reply);
    assert_eq!(shown.calls[&1], ("list".into(), "{}".into()));
}

// proves M4
#[test]
fn a_stream_is_cut_short_wherever_it_ends_before_its_last_event() {
    let body = stream(&everything());
    let last = body.rfind("}\n\n").unwrap();
    let whole = decode(&[body.as_bytes()]).0.unwrap();
    for cut in 0..body.len() {
        let (reply, _) = decode(&[&body.as_bytes()[..cut]]);
        if cut > last {
            assert_eq!(reply.as_ref(), Ok(&whole), "cut at {cut}");
        } else {
            assert_eq!(reply.unwrap_err().class, FailureClass::Transient, "cut at {cut}");
        }
    }
}

#[test]
fn the_reason_of_the_end_is_understood_and_corrected_by_the_reply() {
    let text = json!({"type": "text", "text": "Hi"});
    let call = json!({"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}});
    for (reason, block, expected) in [
        ("end_turn", &text, StopReason::Stop),
        ("stop_sequence", &text, StopReason::Stop),
        ("tool_use", &call, StopReason::Calls),
        ("end_turn", &call, StopReason::Calls),
        ("tool_use", &text, StopReason::Stop),
        ("max_tokens", &text, StopReason::Length),
        ("max_tokens", &call, StopReason::Length),
        ("model_context_window_exceeded", &text, StopReason::Length),
        ("refusal", &text, StopReason::Refused),
        ("pause_turn", &text, StopReason::Paused),
        ("pause_turn", &call, StopReason::Calls),
        ("a_reason_to_come", &text, StopReason::Stop),
    ] {
        let mut events = vec![start(0, block), stop(0)];
        events.extend(end(reason));
        let streamed = decode(&[stream(&events).as_bytes()]).0.unwrap();
        let body = json!({"type": "message", "content": [block], "stop_reason": reason, "usage": {"output_tokens": 9}});
        let whole = decode_whole::<MessagesDraft>(&endpoint(), body.to_string().as_bytes()).unwrap();
        assert_eq!((streamed.stop, &whole), (expected, &streamed), "{reason}");
    }
}

// proves M9
#[test]
fn a_refusal_has_the_providers_words_where_the_model_has_none() {
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "This request was declined."});
    let events = [
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}),
        json!({"type": "message_stop"}),
    ];
    let (reply, shown) = decode(&[stream(&events).as_bytes()]);
    let reply = reply.unwrap();
    assert_eq!((reply.stop, reply.text().as_str()), (StopReason::Refused, "This request was declined."));
    shown.assert_covers(&reply);
}

#[test]
fn an_empty_reply_is_a_reply() {
    let (reply, _) = decode(&[stream(&end("end_turn")).as_bytes()]);
    assert_eq!(reply.map(|reply| (reply.parts, reply.stop)), Ok((vec![], StopReason::Stop)));
}

#[test]
fn a_stream_without_the_starts_of_its_blocks_is_still_read() {
    let mut events = vec![
        delta(0, &json!({"type": "thinking_delta", "thinking": "Hm"})),
        delta(1, &json!({"type": "text_delta", "text": "Hi"})),
    ];
    events.extend(end("end_turn"));
    let reply = decode(&[stream(&events).as_bytes()]).0.unwrap();
    assert_eq!((reply.thinking(), reply.text()), ("Hm".into(), "Hi".into()));
}

// proves M3
#[test]
fn the_apis_rejections_are_classified() {
    for (status, kind, message, class) in [
        (400, "invalid_request_error", "max_tokens: 99999 > 8192", FailureClass::BadRequest),
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", FailureClass::Overflow),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
            FailureClass::Overflow,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
            FailureClass::Quota,
        ),
        (400, "invalid_request_error", "You have reached your specified API usage limits.", FailureClass::Quota),
        (400, "invalid_request_error", "Output blocked by content filtering policy", FailureClass::Filtered),
        (401, "authentication_error", "invalid x-api-key", FailureClass::Auth),
        (402, "billing_error", "Pay first", FailureClass::Quota),
        (403, "permission_error", "Your API key does not have permission", FailureClass::Auth),
        (404, "not_found_error", "model: claude-nonexistent", FailureClass::BadRequest),
        (413, "request_too_large", "Request exceeds the maximum size", FailureClass::Overflow),
        (429, "rate_limit_error", "This request would exceed your rate limit", FailureClass::Transient),
        (500, "api_error", "Internal server error", FailureClass::Transient),
        (529, "overloaded_error", "Overloaded", FailureClass::Transient),
    ] {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}}).to_string();
        let rejection = Rejection { status, retry: RetryHeaders::default(), location: None, body: body.as_bytes() };
        let failure = classify(&endpoint(), &rejection);
        assert_eq!(failure.class, class, "{status} {message}");
        assert_eq!(failure.no_model, status == 404, "{failure}");
        // The same report inside a successful answer.
        let whole = decode_whole::<MessagesDraft>(&endpoint(), body.as_bytes()).unwrap_err();
        assert_eq!(whole.class, if status == 402 { FailureClass::Quota } else { class }, "{message}");
    }
}

#[test]
fn a_signature_without_end_is_given_up() {
    let begin = stream(&[start(0, &json!({"type": "thinking", "thinking": "", "signature": ""}))]);
    let more = stream(&[delta(0, &json!({"type": "signature_delta", "signature": "x".repeat(8 << 20)}))]);
    let pushes = [&[begin.as_bytes()][..], &[more.as_bytes(); 5]].concat();
    let (reply, _) = decode(&pushes);
    let failure = reply.unwrap_err();
    assert_eq!(failure.class, FailureClass::Protocol);
    assert!(failure.message.contains("longer than any reply should be"), "{failure}");
}
