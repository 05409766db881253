//! Hand-written answers of the Responses protocol: what its events mean, and what servers do beyond its specification.

use serde_json::{Value, json};
use windlass_provider::decode_whole;
use windlass_provider::responses::ResponseDraft;
use windlass_vocab::{Failure, FailureCause, FailureClass, Json, Part, Reply, ReplyCall, StopReason, Usage};

use super::{Shown, decode_as, endpoint};

/// Decodes events; asserts that cuts in the stream change nothing.
fn reply(events: &[Value]) -> Result<Reply, Failure> {
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    read(&events.iter().map(line).collect::<String>())
}

/// Decodes a stream as it is; asserts that cuts change nothing.
fn read(body: &str) -> Result<Reply, Failure> {
    let (whole, shown): (_, Shown) = decode_as::<ResponseDraft>(&[body.as_bytes()]);
    for cut in 0..body.len() {
        let (first, second) = body.as_bytes().split_at(cut);
        let halves = decode_as::<ResponseDraft>(&[first, second]);
        assert_eq!(halves, (whole.clone(), shown.clone()), "{body:?} cut at {cut}");
    }
    if let Ok(reply) = &whole {
        shown.assert_covers(reply);
    }
    whole
}

fn delta(kind: &str, index: u32, text: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "delta": text})
}

fn text(index: u32, text: &str) -> Value {
    delta("output_text", index, text)
}

fn added(index: u32, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u32, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// The last event of a response with this output.
fn completed(output: &[Value]) -> Value {
    json!({"type": "response.completed", "response": response("completed", output)})
}

fn response(status: &str, output: &[Value]) -> Value {
    json!({
        "object": "response", "status": status, "model": "m-1", "output": output, "error": null,
        "incomplete_details": null, "usage": {"input_tokens": 9, "output_tokens": 5,
        "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2}},
    })
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn function_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments})
}

fn call(id: &str, name: &str, arguments: &str) -> ReplyCall {
    let provider_id = (!id.is_empty()).then(|| id.to_owned());
    ReplyCall { provider_id, name: name.into(), arguments: arguments.into(), mended: None }
}

/// Decodes a body that is not a stream.
fn whole(body: &str) -> Result<Reply, Failure> {
    decode_whole::<ResponseDraft>(&endpoint(), body.as_bytes())
}

fn failure(result: Result<Reply, Failure>) -> Failure {
    result.expect_err("a failure")
}

fn words(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn thoughts(text: &str) -> Part {
    Part::Thinking { text: text.into(), signature: None }
}

fn opaque(item: &str) -> Part {
    Part::Opaque { item: Json::parse(item).unwrap() }
}

// proves M4
#[test]
fn a_response_is_read_with_its_usage_and_model() {
    let events = [
        json!({"type": "response.created", "response": response("in_progress", &[])}),
        added(0, &json!({"type": "message", "id": "msg_1", "content": []})),
        text(0, "Hé"),
        text(0, "llo\n"),
        json!({"type": "response.output_text.done", "output_index": 0, "text": "Héllo\n"}),
        done(0, &message("Héllo\n")),
        completed(&[message("Héllo\n")]),
    ];
    let reply = reply(&events).unwrap();
    let usage = Usage { input: 9, output: 5, cached: 4, reasoning: 2, calls: 1, ..Usage::default() };
    assert_eq!((reply.parts, reply.stop, reply.usage), (vec![words("Héllo\n")], StopReason::Stop, Some(usage)));
    assert_eq!(reply.model.as_deref(), Some("m-1"));
}

// proves M5
#[test]
fn parts_stand_in_the_order_of_the_output_and_reasoning_is_kept_for_the_model() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "status": null, "content": [], "encrypted_content": "x+/=",
        "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]});
    let remark =
        json!({"type": "message", "phase": "commentary", "content": [{"type": "output_text", "text": "Now:"}]});
    let first = function_call("a", "read", r#"{"p":1}"#);
    let output = [reasoning.clone(), remark.clone(), first.clone(), function_call("b", "list", "{}")];
    let summary = |index: u32, text: &str| {
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0,
        "summary_index": index, "delta": text})
    };
    let streamed = reply(&[
        added(0, &json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "other", "summary": []})),
        summary(0, "One"),
        summary(0, "."),
        summary(1, "Two."),
        done(0, &reasoning),
        added(1, &json!({"type": "message", "phase": "commentary", "content": []})),
        text(1, "Now"),
        text(1, ":"),
        done(1, &remark),
        added(2, &function_call("a", "read", "")),
        added(3, &function_call("b", "list", "")),
        delta("function_call_arguments", 2, r#"{"p""#),
        delta("function_call_arguments", 3, "{}"),
        delta("function_call_arguments", 2, ":1}"),
        done(2, &first),
        done(3, &output[3]),
        completed(&output),
    ])
    .unwrap();
    let kept = r#"{"type":"reasoning","id":"rs_1","summary":[{"text":"One.","type":"summary_text"},{"text":"Two.","type":"summary_text"}],"encrypted_content":"x+/="}"#;
    let parts = vec![
        thoughts("One.\n\nTwo."),
        opaque(kept),
        opaque(r#"{"type":"message","phase":"commentary"}"#),
        words("Now:"),
        Part::Call { index: 0 },
        Part::Call { index: 1 },
    ];
    assert_eq!(streamed.parts, parts);
    assert_eq!(streamed.calls, [call("a", "read", r#"{"p":1}"#), call("b", "list", "{}")]);
    assert_eq!(streamed.stop, StopReason::Calls);
    // The same output in one body, and in a stream without deltas, is the same reply.
    assert_eq!(whole(&response("completed", &output).to_string()), Ok(streamed.clone()));
    assert_eq!(reply(&[completed(&output)]), Ok(streamed.clone()));
    let items: Vec<Value> = (0..).zip(&output).map(|(index, item)| done(index, item)).chain([completed(&[])]).collect();
    assert_eq!(reply(&items), Ok(streamed));
}

#[test]
fn reasoning_that_can_not_be_sent_back_is_not_kept() {
    let reference = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": null});
    let open = json!({"type": "reasoning", "id": "rs_2", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]});
    let reply = reply(&[completed(&[reference, open, message("Yes")])]).unwrap();
    let kept = r#"{"type":"reasoning","id":"rs_2","summary":[],"content":[{"text":"hm","type":"reasoning_text"}]}"#;
    assert_eq!(reply.parts, [thoughts("hm"), opaque(kept), words("Yes")]);
}

// proves M5
#[test]
fn reasoning_in_the_open_and_think_tags_are_thinking() {
    let open = json!({"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "hm"});
    let reply_of = |events: &[Value]| {
        let reply = reply(events).unwrap();
        (reply.thinking(), reply.text())
    };
    assert_eq!(reply_of(&[open, text(1, "Yes"), completed(&[])]), ("hm".into(), "Yes".into()));
    let tagged = [text(0, "<thi"), text(0, "nk>hm</think>\n\nY"), text(0, "es"), completed(&[message("other")])];
    assert_eq!(reply_of(&tagged), ("hm".into(), "Yes".into()));
    assert_eq!(reply_of(&[completed(&[message("<think>hm</think>Yes")])]), ("hm".into(), "Yes".into()));
}

#[test]
fn two_messages_of_one_reply_do_not_run_into_each_other() {
    let reply = reply(&[text(0, "Let me see."), text(1, "It is 5."), completed(&[])]).unwrap();
    assert_eq!(reply.parts, [words("Let me see."), words("\n\nIt is 5.")]);
}

#[test]
fn items_are_told_apart_by_id_where_they_have_no_position() {
    let named =
        |id: &str, text: &str| json!({"type": "response.function_call_arguments.delta", "item_id": id, "delta": text});
    let begun = |item: &Value| json!({"type": "response.output_item.added", "item": item});
    let output = [function_call("a", "read", r#"{"p":1}"#), function_call("b", "list", "{}")];
    let events = [
        begun(&function_call("a", "read", "")),
        begun(&function_call("b", "list", "")),
        named("fc_a", r#"{"p":"#),
        named("fc_b", "{}"),
        named("fc_a", "1}"),
        completed(&output),
    ];
    let calls = [call("a", "read", r#"{"p":1}"#), call("b", "list", "{}")];
    assert_eq!(reply(&events).unwrap().calls, calls);
    // A server that gives every item position 0.
    let events = [
        added(0, &function_call("a", "read", "")),
        delta("function_call_arguments", 0, r#"{"p":1}"#),
        added(0, &function_call("b", "list", "")),
        delta("function_call_arguments", 0, "{}"),
        completed(&output),
    ];
    assert_eq!(reply(&events).unwrap().calls, calls);
}

// proves M9
#[test]
fn the_stop_reason_is_read_off_the_end_and_the_reply() {
    let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    let called = function_call("a", "read", "{}");
    let cut = |reason: Value| {
        let mut response = response("incomplete", &[message("x")]);
        response["incomplete_details"] = reason;
        json!({"type": "response.incomplete", "response": response})
    };
    for (events, stop) in [
        (vec![completed(&[message("x")])], StopReason::Stop),
        (vec![completed(&[])], StopReason::Stop),
        (vec![completed(&[message("x"), called.clone()])], StopReason::Calls),
        (vec![completed(std::slice::from_ref(&refusal))], StopReason::Refused),
        (vec![delta("refusal", 0, "N"), delta("refusal", 0, "o."), completed(&[refusal])], StopReason::Refused),
        (vec![cut(json!({"reason": "max_output_tokens"}))], StopReason::Length),
        (vec![cut(json!({"reason": "content_filter"}))], StopReason::Filtered),
        (vec![cut(Value::Null)], StopReason::Length),
        (vec![added(0, &called), cut(json!({"reason": "max_output_tokens"}))], StopReason::Length),
    ] {
        assert_eq!(reply(&events).unwrap().stop, stop, "{events:?}");
    }
    let refused = reply(&[delta("refusal", 0, "N"), delta("refusal", 0, "o."), completed(&[])]).unwrap();
    assert_eq!(refused.parts, [words("No.")]);
}

// proves M4
#[test]
fn a_stream_without_the_end_of_its_response_broke_off() {
    let whole_item = [text(0, "half"), done(0, &message("half"))];
    let cut = failure(reply(&whole_item));
    assert_eq!((cut.class, cut.first_byte), (FailureClass::Transient, true));
    assert_eq!(cut.message, "The server at http://models.test/v1 broke off in the middle of the answer.");
    let events = format!("data: {}\n\ndata: [DONE]\n\n", text(0, "half"));
    assert_eq!(failure(read(&events)).class, FailureClass::Transient);
    let nothing = failure(reply(&[json!({"type": "response.created", "response": response("in_progress", &[])})]));
    assert_eq!((nothing.class, nothing.first_byte), (FailureClass::Transient, false));
    // Half an event is a broken connection, not nonsense; after the end of the response it costs nothing.
    let half = failure(read(&format!("data: {}\n\ndata: {{\"type\":\"respon", text(0, "half"))));
    assert_eq!((half.class, half.first_byte), (FailureClass::Transient, true));
    let late = format!("data: {}\n\ndata: {{\"type\":\"respon", completed(&[message("Hi")]));
    assert_eq!(read(&late).unwrap().text(), "Hi");
    let unended = whole(&response("in_progress", &[]).to_string());
    assert_eq!(failure(unended).class, FailureClass::Transient);
}

// proves M3
#[test]
fn an_error_inside_a_stream_is_a_failure_of_its_class() {
    let failed = |error: &Value| {
        let mut response = response("failed", &[]);
        response["error"] = error.clone();
        json!({"type": "response.failed", "response": response})
    };
    for (code, message, class) in [
        ("server_error", "An error occurred while processing your request.", FailureClass::Transient),
        ("rate_limit_exceeded", "Rate limit reached for gpt-5 on tokens per min", FailureClass::Transient),
        ("insufficient_quota", "You exceeded your current quota", FailureClass::Quota),
        ("context_length_exceeded", "Your input exceeds the context window of this model.", FailureClass::Overflow),
        ("invalid_api_key", "Incorrect API key provided", FailureClass::Auth),
        ("invalid_prompt", "Your prompt was flagged as violating our usage policy.", FailureClass::Filtered),
        ("invalid_prompt", "Invalid prompt", FailureClass::BadRequest),
    ] {
        let error = json!({"code": code, "message": message});
        for event in [
            json!({"type": "error", "code": code, "message": message, "param": null, "sequence_number": 3}),
            json!({"type": "error", "error": {"type": "x", "code": code, "message": message, "param": null}}),
            failed(&error),
        ] {
            let failed = failure(reply(&[text(0, "x"), event.clone()]));
            assert_eq!((failed.class, failed.first_byte), (class, true), "{event}");
            assert!(failed.message.contains(message), "{failed}");
            let unnamed = failure(read(&format!("data: {}\n\ndata: {event}\n\n", text(0, "x"))));
            assert_eq!(unnamed, failed, "without the name of the event");
        }
        let mut body = response("failed", &[]);
        body["error"] = error;
        assert_eq!(failure(whole(&body.to_string())).class, class);
    }
    for event in [failed(&Value::Null), json!({"type": "response.cancelled", "response": response("cancelled", &[])})] {
        assert_eq!(failure(reply(&[event])).class, FailureClass::Transient);
    }
}

#[test]
fn what_is_not_known_is_passed_over() {
    let events = [
        json!({"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws_1"}),
        added(0, &json!({"type": "web_search_call", "id": "ws_1"})),
        json!({"type": "keepalive", "sequence_number": 3}),
        text(1, "Hi"),
        json!({"type": "response.new_kind", "delta": {"not": "text"}}),
        done(0, &json!({"type": "web_search_call", "id": "ws_1", "status": "completed"})),
        completed(&[json!({"type": "web_search_call", "id": "ws_1"}), message("Hi")]),
    ];
    assert_eq!(reply(&events).unwrap().parts, [words("Hi")]);
}

#[test]
fn nonsense_is_a_protocol_failure_that_says_so() {
    for (body, said) in [
        ("data: oops\n\n", "sent an event that is not JSON: oops"),
        ("data: {\"type\":7}\n\n", "sent an event that is not of this API: {"),
        ("data: {\"type\":\"response.completed\"}\n\n", "sent an event that is not of this API: {"),
        ("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n", "sent a stream that is not of this API"),
    ] {
        let failed = failure(read(body));
        assert_eq!(failed.class, FailureClass::Protocol, "{body}");
        assert!(failed.message.contains(said), "{failed}");
    }
    for body in [r#"{"choices":[]}"#, "[1]", "{}", r#"{"object":"list","data":[]}"#] {
        let failed = failure(whole(body));
        assert_eq!((failed.class, failed.cause), (FailureClass::Protocol, Some(FailureCause::WrongAddress)), "{body}");
    }
    let cut = failure(whole(r#"{"object":"response","output":[{"ty"#));
    assert_eq!(cut.class, FailureClass::Transient);
}
