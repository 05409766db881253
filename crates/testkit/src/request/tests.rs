//! What each wire refuses of a request, besides the order of its messages, which is the same for all.

use serde_json::{Value, json};
use windlass_provider::WireKind;

use super::message::RequestMessage;
use super::read_request;
use crate::legality::wire_legality;

fn verdict(wire: WireKind, request: &Value) -> String {
    wire_legality(wire, request).map_or_else(|what| what, |()| "legal".to_owned())
}

/// A request with a call, its result, and what a user says behind it.
fn messages() -> Value {
    json!({
        "model": "m", "max_tokens": 100, "tools": [{"name": "t"}], "tool_choice": {"type": "auto"},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "a", "name": "t", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "ok"},
                {"type": "text", "text": "and?"},
            ]},
        ],
    })
}

fn responses() -> Value {
    json!({
        "model": "m", "store": false, "tools": [{"name": "t"}], "tool_choice": "none",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "e"},
            {"type": "message", "role": "assistant", "content": "so"},
            {"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "ok"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "and?"}]},
        ],
    })
}

/// Asserts that `change` makes a good request illegal, and what is said of it.
fn refused(wire: WireKind, good: &Value, place: &str, value: Value, expected: &str) {
    let mut bad = good.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    match bad.pointer_mut(parent).unwrap() {
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        other => other[key] = value,
    }
    assert_eq!(verdict(wire, &bad), expected, "{place}");
}

// proves J10
#[test]
fn the_same_conversation_is_read_from_every_wire() {
    let said = [
        RequestMessage::User("go".into()),
        RequestMessage::Reply { calls: vec!["a".into()] },
        RequestMessage::Result("a".into()),
        RequestMessage::User("and?".into()),
    ];
    for (wire, good) in [(WireKind::Messages, messages()), (WireKind::Responses, responses())] {
        assert_eq!(read_request(wire, &good).unwrap().messages, said);
        assert_eq!(verdict(wire, &good), "legal");
    }
}

// proves J10
#[test]
fn what_messages_refuses_is_named() {
    let unsigned = json!({"type": "thinking", "thinking": "hm"});
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let other = json!({"type": "tool_result", "tool_use_id": "b", "content": "ok"});
    for (place, value, expected) in [
        ("/max_tokens", json!(null), "`max_tokens` is missing or is no number"),
        ("/temperature", json!(1.5), "`temperature` is above 1"),
        ("/thinking", json!({"budget_tokens": 100}), "the budget of 100 tokens to think is not below `max_tokens`"),
        ("/tools", json!([]), "`tools` is empty; it must be left out"),
        ("/tools", json!(null), "`tool_choice` is given without `tools`"),
        ("/messages/0/role", json!("assistant"), "message 1: two messages in a row of the role `assistant`"),
        ("/messages/0/content", json!([]), "message 0: `content` is no list of blocks"),
        ("/messages/0/content/0/text", json!(" "), "message 0: a block of text without text"),
        ("/messages/1/content/0", unsigned, "message 1: a block of thinking without its signature"),
        ("/messages/1/content/1", thinking, "message 1: nothing follows the last block of thinking"),
        ("/messages/1/content/1/id", json!("a.1"), "message 1: the id `a.1` has characters that this API refuses"),
        ("/messages/1/content/1/input", json!("{}"), "message 1: the input of call `a` is no JSON object"),
        ("/messages/2/content/0", other, "message 2: a result for `b` where one for `a` is due"),
        ("/messages/2/content", json!([{"type": "text", "text": "no"}]), "message 2: call `a` has no result"),
    ] {
        refused(WireKind::Messages, &messages(), place, value, expected);
    }
    let mut marked = messages();
    marked["system"] = json!([{"cache_control": {}}, {"cache_control": {}}, {"cache_control": {}}]);
    assert_eq!(verdict(WireKind::Messages, &marked), "legal");
    marked["tools"] = json!([{"cache_control": {}}, {"cache_control": {}}]);
    assert_eq!(verdict(WireKind::Messages, &marked), "5 blocks have `cache_control`; 4 may");
    let mut unthought = messages();
    unthought["thinking"] = json!({"type": "enabled", "budget_tokens": 50});
    assert_eq!(verdict(WireKind::Messages, &unthought), "legal");
    unthought["messages"][1]["content"][0] = json!({"type": "text", "text": "so"});
    let said = "a model that thinks was given back calls without its thinking";
    assert_eq!(verdict(WireKind::Messages, &unthought), said);
}

// proves J10
#[test]
fn what_responses_refuses_is_named() {
    let open = json!({"type": "reasoning", "summary": []});
    for (place, value, expected) in [
        ("/input", json!(null), "`input` is missing or is no list"),
        ("/tools", json!(null), "`tool_choice` is given without `tools`"),
        ("/input/0/content", json!(""), "item 0: a user message without content"),
        ("/input/1", open, "item 1: reasoning without its summary or its encrypted content"),
        ("/input/2/role", json!("user"), "item 1: nothing follows the reasoning"),
        ("/input/2/content", json!(""), "item 2: an assistant message has neither content nor calls"),
        ("/input/3/arguments", json!({}), "item 3: the arguments of call `a` are no JSON object in a string"),
        ("/input/3/call_id", json!(""), "item 3: a call without `call_id`"),
        ("/input/4/output", json!(null), "item 4: a result without `call_id` or `output`"),
        ("/input/4/call_id", json!("b"), "message 2: a result for `b` where one for `a` is due"),
        ("/input/4/type", json!("item_reference"), "item 4: unknown type `item_reference`"),
    ] {
        refused(WireKind::Responses, &responses(), place, value, expected);
    }
}
