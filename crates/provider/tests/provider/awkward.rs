//! Hand-written streams: everything servers do beyond the specification.

use windlass_provider::chat::{ChatDraft, ChatStream};
use windlass_provider::{AnswerBody, AnswerLimits, decode_whole};
use windlass_vocab::{Failure, FailureCause, FailureClass, Reply, ReplyCall, StopReason, Usage};

use super::{decode, endpoint};

/// Decodes chunks given as JSON, each as one event; asserts that cuts in the stream change nothing.
fn reply(chunks: &[&str]) -> Result<Reply, Failure> {
    let body: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    read(&body)
}

/// Decodes a body as it is; asserts that cuts change nothing.
fn read(body: &str) -> Result<Reply, Failure> {
    let (whole, shown) = decode(&[body.as_bytes()]);
    for cut in 0..body.len() {
        let (first, second) = body.as_bytes().split_at(cut);
        assert_eq!(decode(&[first, second]), (whole.clone(), shown.clone()), "{body:?} cut at {cut}");
    }
    if let Ok(reply) = &whole {
        shown.assert_covers(reply);
    }
    whole
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

fn calls_of(deltas: &[&str]) -> Vec<ReplyCall> {
    let mut chunks: Vec<String> = deltas.iter().map(|call| delta(&format!(r#"{{"tool_calls":[{call}]}}"#))).collect();
    chunks.push(finish("tool_calls"));
    let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
    let reply = reply(&chunks).unwrap();
    assert_eq!(reply.stop, StopReason::Calls);
    reply.calls
}

fn call(id: &str, name: &str, arguments: &str) -> ReplyCall {
    let provider_id = (!id.is_empty()).then(|| id.to_owned());
    ReplyCall { provider_id, name: name.into(), arguments: arguments.into(), mended: None }
}

fn failure(result: Result<Reply, Failure>) -> Failure {
    result.expect_err("a failure")
}

#[test]
fn words_are_joined_and_usage_is_read_wherever_it_stands() {
    let text = delta(r#"{"role":"assistant","content":"Hé"}"#);
    let more = delta(r#"{"content":"llo\n"}"#);
    let usage = r#""usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}"#;
    let expected = Usage { input: 9, output: 5, cached: 4, reasoning: 2, calls: 1, ..Usage::default() };
    let last = format!(r#"{{"choices":[],{usage}}}"#);
    let beside = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop",{usage}}}]}}"#);
    for chunks in [
        [&text, &more, &finish("stop"), last.as_str(), "[DONE]"],
        [&text, &more, &last, finish("stop").as_str(), "[DONE]"],
        [&text, &more, &beside, "{}", "[DONE]"],
    ] {
        let reply = reply(&chunks).unwrap();
        assert_eq!((reply.text().as_str(), reply.stop, reply.usage), ("Héllo\n", StopReason::Stop, Some(expected)));
    }
}

#[test]
fn a_count_on_each_chunk_is_not_added_up_and_senseless_counts_are_left_out() {
    let with = |usage: &str| {
        format!(r#"{{"choices":[{{"delta":{{"content":"x"}},"finish_reason":"stop"}}],"usage":{usage}}}"#)
    };
    let usage = |chunks: &[&str]| reply(chunks).unwrap().usage.map(|usage| (usage.input, usage.output, usage.cached));
    let (first, second) = (
        with(r#"{"prompt_tokens":9,"completion_tokens":1}"#),
        with(r#"{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":8}"#),
    );
    assert_eq!(usage(&[&first, &second, &with("null")]), Some((9, 2, 8)));
    assert_eq!(usage(&[&with(r#"{"prompt_tokens":"many"}"#)]), None);
    assert_eq!(usage(&[&with(r#"{"prompt_tokens":0,"completion_tokens":0}"#)]), None);
}

// proves M4
#[test]
fn a_reply_is_whole_without_the_closing_mark_but_not_without_a_finish() {
    let text = delta(r#"{"content":"half"}"#);
    assert_eq!(reply(&[&text, &finish("stop")]).unwrap().text(), "half");
    assert_eq!(reply(&[&text, "[DONE]"]).unwrap().text(), "half");
    let cut = failure(reply(&[&text]));
    assert_eq!((cut.class, cut.first_byte), (FailureClass::Transient, true));
    assert_eq!(cut.message, "The server at http://models.test/v1 broke off in the middle of the answer.");
    let nothing = failure(read(": keep-alive\n\n"));
    assert_eq!((nothing.class, nothing.first_byte), (FailureClass::Transient, false));
    assert_eq!(failure(reply(&["[DONE]"])).class, FailureClass::Transient);
}

#[test]
fn an_event_cut_in_half_is_a_broken_connection_not_nonsense() {
    let text = delta(r#"{"content":"half"}"#);
    let half = failure(read(&format!("data: {text}\n\ndata: {{\"choices\":[{{\"delta\":")));
    assert_eq!((half.class, half.first_byte), (FailureClass::Transient, true));
    let whole = read(&format!("data: {text}\n\ndata: {}\n\ndata: {{\"cho", finish("stop")));
    assert_eq!(whole.unwrap().text(), "half");
}

#[test]
fn framing_may_be_sloppy() {
    let (text, end) = (delta(r#"{"content":"ok"}"#), finish("stop"));
    for body in [
        format!("data:{text}\r\n\r\ndata:{end}\r\n\r\ndata:[DONE]\r\n\r\n"),
        format!("\u{feff}: hello\nid: 1\nevent: message\ndata: {text}\n\nretry: 5\n\ndata: {end}"),
        format!("data: {text}\ndata: {end}\ndata: [DONE]\n"),
        format!("data: {text}\n\ndata: \n\ndata: {end}\n\ndata: [DONE]\n\ndata: garbage\n\n"),
        format!("event: ping\ndata: {{}}\n\ndata: {text}\n\ndata: {end}\n\n"),
    ] {
        assert_eq!(read(&body).unwrap().text(), "ok", "{body:?}");
    }
}

#[test]
fn a_broken_character_costs_only_itself() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xF0\x9F\"},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(decode(&[body]).0.unwrap().text(), "a\u{fffd}");
}

#[test]
fn calls_are_told_apart_by_index() {
    let calls = calls_of(&[
        r#"{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}"#,
        r#"{"index":0,"function":{"arguments":"{\"p\":"}}"#,
        r#"{"index":1,"id":"b","function":{"name":"list","arguments":"{}"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
    ]);
    assert_eq!(calls, [call("a", "read", r#"{"p":1}"#), call("b", "list", "{}")]);
}

#[test]
fn calls_are_told_apart_when_every_index_is_zero_or_none_is_given() {
    let expected = [call("a", "read", r#"{"p":1}"#), call("b", "read", r#"{"p":2}"#)];
    for index in [r#""index":0,"#, r#""index":null,"#, ""] {
        let part = |id: &str, function: &str| format!(r#"{{{index}"id":{id},"function":{function}}}"#);
        let calls = calls_of(&[
            &part(r#""a""#, r#"{"name":"read","arguments":"{\"p\":"}"#),
            &part("null", r#"{"arguments":"1}"}"#),
            &part(r#""b""#, r#"{"name":"read","arguments":"{\"p\":2"}"#),
            &part(r#""b""#, r#"{"name":"read","arguments":"}"}"#),
        ]);
        assert_eq!(calls, expected, "{index}");
    }
}

#[test]
fn whole_calls_without_ids_are_told_apart() {
    for index in [r#""index":0,"#, ""] {
        let part = |name: &str, arguments: &str| {
            format!(r#"{{{index}"function":{{"name":"{name}","arguments":{arguments}}}}}"#)
        };
        let calls = calls_of(&[&part("read", r#""{\"p\":1}""#), &part("read", r#"{"p":2}"#), &part("list", r#""{}""#)]);
        assert_eq!(calls, [call("", "read", r#"{"p":1}"#), call("", "read", r#"{"p":2}"#), call("", "list", "{}")]);
    }
}

#[test]
fn names_may_be_repeated_or_come_in_parts_and_ids_may_come_late_or_twice() {
    let repeated = calls_of(&[
        r#"{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}"#,
        r#"{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}"#,
    ]);
    assert_eq!(repeated, [call("a", "read", r#"{"p":1}"#)]);
    let parts = calls_of(&[
        r#"{"index":0,"function":{"name":"read_"}}"#,
        r#"{"index":0,"id":"late","function":{"name":""}}"#,
        r#"{"index":0,"function":{"name":"file","arguments":"{}"}}"#,
    ]);
    assert_eq!(parts, [call("late", "read_file", "{}")]);
    let twice = calls_of(&[
        r#"{"index":0,"id":"x","function":{"name":"read","arguments":"{}"}}"#,
        r#"{"index":1,"id":"x","function":{"name":"list","arguments":"{}"}}"#,
        r#"{"index":2,"id":"","function":{"name":"list"}}"#,
    ]);
    assert_eq!(twice, [call("x", "read", "{}"), call("x", "list", "{}"), call("", "list", "")]);
}

#[test]
fn the_older_form_of_a_call_is_read() {
    let chunks = [
        delta(r#"{"content":null,"function_call":{"name":"read","arguments":"{\"p\""}}"#),
        delta(r#"{"function_call":{"arguments":":1}"}}"#),
        finish("function_call"),
    ];
    let reply = reply(&[&chunks[0], &chunks[1], &chunks[2]]).unwrap();
    assert_eq!((reply.stop, reply.calls), (StopReason::Calls, vec![call("", "read", r#"{"p":1}"#)]));
}

// proves M5
#[test]
fn reasoning_is_thinking_whatever_its_field_is_called() {
    let end = finish("stop");
    for field in ["reasoning_content", "reasoning", "thinking"] {
        let thought = delta(&format!(r#"{{"content":null,"{field}":"hm"}}"#));
        let text = delta(&format!(r#"{{"content":"Yes","{field}":null}}"#));
        let reply = reply(&[&thought, &text, &end]).unwrap();
        assert_eq!((reply.thinking().as_str(), reply.text().as_str()), ("hm", "Yes"), "{field}");
    }
    let both = delta(r#"{"reasoning":"hm","reasoning_content":"hm","content":""}"#);
    assert_eq!(reply(&[&both, &end]).unwrap().thinking(), "hm");
    let parts = delta(
        r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Yes"}]}"#,
    );
    let reply = reply(&[&parts, &end]).unwrap();
    assert_eq!((reply.thinking().as_str(), reply.text().as_str()), ("hm", "Yes"));
}

// proves M5
#[test]
fn think_tags_are_thinking_even_when_cut_apart() {
    let chunks: Vec<String> = ["\\n<th", "ink>h", "m</", "think", ">\\n\\nY", "es <think>"]
        .map(|text| delta(&format!(r#"{{"content":"{text}"}}"#)))
        .into_iter()
        .chain([finish("stop")])
        .collect();
    let reply = reply(&chunks.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    assert_eq!((reply.thinking().as_str(), reply.text().as_str()), ("hm", "Yes <think>"));
}

#[test]
fn a_message_repeated_at_the_end_of_a_stream_is_not_doubled() {
    let last = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    assert_eq!(reply(&[&delta(r#"{"content":"Hel"}"#), &delta(r#"{"content":"lo"}"#), last]).unwrap().text(), "Hello");
    assert_eq!(reply(&[last]).unwrap().text(), "Hello");
}

// proves M9
#[test]
fn finishes_are_read_and_set_right_by_the_reply() {
    let text = delta(r#"{"content":"x"}"#);
    let called = delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#);
    let refused = delta(r#"{"refusal":"No."}"#);
    for (chunk, word, stop) in [
        (&text, "stop", StopReason::Stop),
        (&text, "length", StopReason::Length),
        (&text, "content_filter", StopReason::Filtered),
        (&text, "error", StopReason::Error),
        (&text, "tool_calls", StopReason::Stop),
        (&text, "whatever", StopReason::Stop),
        (&called, "tool_calls", StopReason::Calls),
        (&called, "stop", StopReason::Calls),
        (&called, "whatever", StopReason::Calls),
        (&called, "length", StopReason::Length),
        (&refused, "stop", StopReason::Refused),
        (&refused, "content_filter", StopReason::Filtered),
    ] {
        assert_eq!(reply(&[chunk, &finish(word)]).unwrap().stop, stop, "{word}");
    }
    assert_eq!(reply(&[&refused, &finish("stop")]).unwrap().text(), "No.");
    let starved = failure(reply(&[&text, &finish("insufficient_system_resource")]));
    assert_eq!((starved.class, starved.first_byte), (FailureClass::Transient, true));
}

// proves M3
#[test]
fn an_error_inside_a_stream_is_a_failure_of_its_class() {
    let text = delta(r#"{"content":"x"}"#);
    for (error, class) in [
        (r#"data: {"error":{"message":"Overloaded","type":"server_error"}}"#, FailureClass::Transient),
        (r#"data: {"error":{"code":502,"message":"upstream"},"choices":[]}"#, FailureClass::Transient),
        (r#"data: {"error":"something broke"}"#, FailureClass::Transient),
        (r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#, FailureClass::Quota),
        ("event: error\ndata: {\"message\":\"Invalid API key\"}", FailureClass::Auth),
        ("event: error\ndata: gone", FailureClass::Transient),
        (r#"error: {"code":400,"message":"the request exceeds the available context size"}"#, FailureClass::Overflow),
        (r#"data: {"object":"error","message":"bad","type":"BadRequestError","code":400}"#, FailureClass::BadRequest),
    ] {
        let failed = failure(read(&format!("data: {text}\n\n{error}\n\n")));
        assert_eq!((failed.class, failed.first_byte), (class, true), "{error}");
    }
    assert_eq!(
        reply(&[r#"{"error":null,"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}"#]).unwrap().text(),
        "x"
    );
}

#[test]
fn nonsense_is_a_protocol_failure_that_says_so() {
    let nonsense = failure(read("data: oops\x1b[2J \u{202e}\n\n"));
    assert_eq!(nonsense.class, FailureClass::Protocol);
    assert_eq!(nonsense.message, "The server at http://models.test/v1 sent an event that is not JSON: oops [2J");
    let odd = failure(reply(&[r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":-1}]}}]}"#]));
    assert!(odd.message.contains("sent an event that is not of this API: {"), "{odd}");
    let long = failure(reply(&[&format!(r#"{{"choices":"{}"}}"#, "none ".repeat(500))]));
    assert!(long.message.contains("sent an event that is not of this API: {"), "{long}");
    let foreign = failure(read("event: message_start\ndata: {\"type\":\"message_start\"}\n\n"));
    assert_eq!(foreign.class, FailureClass::Protocol);
    assert_eq!(foreign.cause, Some(FailureCause::WrongAddress), "{foreign}");
}

// proves M3: a server that changes to another API in the middle would do so again, so the request is not repeated
#[test]
fn events_of_another_api_in_mid_stream_are_a_protocol_failure() {
    let begun = r#"{"choices":[{"index":0,"delta":{"content":"Hel"}}]}"#;
    let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}"#;
    for event in [delta, r#"{"type":"content_block_start","index":0}"#, r#"{"type":"message_start","message":{}}"#] {
        let failed = failure(read(&format!("data: {begun}\n\nevent: x\ndata: {event}\n\n")));
        assert_eq!((failed.class, failed.first_byte), (FailureClass::Protocol, true), "{failed}");
        assert!(failed.message.contains("sent an event that is not of this API: {"), "{failed}");
    }
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let kept_alive = read(&format!("data: {begun}\n\ndata: {{\"type\":\"ping\"}}\n\ndata: {end}\n\n"));
    assert_eq!(kept_alive.expect("a reply").text(), "Hel");
}

#[test]
fn an_answer_beyond_its_limits_is_given_up() {
    let limits = AnswerLimits { event_bytes: 1000, answer_bytes: 3000 };
    let mut stream = ChatStream::new(std::sync::Arc::new(endpoint()), limits);
    let long = format!("data: {}\n\n", delta(&format!(r#"{{"content":"{}"}}"#, "x".repeat(700))));
    let results: Vec<bool> = (0..5).map(|_| stream.push(long.as_bytes(), &mut |_| {}).is_ok()).collect();
    assert_eq!(results, [true, true, true, true, false]);
    let mut stream = ChatStream::new(std::sync::Arc::new(endpoint()), limits);
    let failed = stream.push(&[b'x'; 1001], &mut |_| {}).expect_err("too long");
    assert_eq!(failed.class, FailureClass::Protocol);
}

fn answer(body: &str) -> Result<Reply, Failure> {
    let read = |pushes: &[&[u8]]| {
        let mut answer = AnswerBody::<ChatDraft>::new(std::sync::Arc::new(endpoint()), AnswerLimits::default());
        for bytes in pushes {
            answer.push(bytes, &mut |_| {})?;
        }
        answer.finish(&mut |_| {})
    };
    let whole = read(&[body.as_bytes()]);
    for cut in 0..body.len() {
        assert_eq!(read(&[&body.as_bytes()[..cut], &body.as_bytes()[cut..]]), whole, "{body:?} cut at {cut}");
    }
    whole
}

#[test]
fn a_whole_body_and_a_stream_are_told_apart_by_their_bytes() {
    let message = r#"{"role":"assistant","content":"<think>hm</think>Yes","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    let whole = format!(
        r#"{{"model":"m1","choices":[{{"message":{message},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":1,"completion_tokens":2}}}}"#
    );
    let reply = answer(&format!("\n {whole}\n")).unwrap();
    assert_eq!((reply.text().as_str(), reply.thinking().as_str(), reply.stop), ("Yes", "hm", StopReason::Calls));
    assert_eq!(
        (reply.calls.len(), reply.model.as_deref(), reply.usage.map(|usage| usage.output)),
        (1, Some("m1"), Some(2))
    );
    assert_eq!(answer(&format!("data: {whole}\n\n")), Ok(reply));
    let streamed = format!("data: {}\n\ndata: {}\n\n", delta(r#"{"content":"Yes"}"#), finish("stop"));
    assert_eq!(answer(&streamed).unwrap().text(), "Yes");
}

#[test]
fn a_whole_body_that_is_no_answer_says_what_it_is() {
    for (body, class, words) in [
        ("", FailureClass::Transient, "gave an answer with nothing in it"),
        ("no healthy upstream", FailureClass::Protocol, "not of this API: no healthy upstream"),
        ("<!DOCTYPE html><title>Hi</title>", FailureClass::Protocol, "a web page, not with the API"),
        (r#"{"models":[]}"#, FailureClass::Protocol, "not of this API"),
        (r#"{"choices":[]}"#, FailureClass::Protocol, "not of this API"),
        (r#"{"choices":[{"message":{"content":"ha"#, FailureClass::Transient, "broke off in the middle"),
        (r#"{"error":{"message":"Rate limit reached"}}"#, FailureClass::Transient, "Rate limit reached"),
    ] {
        let failed = failure(answer(body));
        assert_eq!(failed.class, class, "{body}");
        assert!(failed.message.contains(words), "{failed}");
        let elsewhere = (class == FailureClass::Protocol).then_some(FailureCause::WrongAddress);
        assert_eq!(failed.cause, elsewhere, "{body}");
    }
    let mut compressed = AnswerBody::<ChatDraft>::new(endpoint().into(), AnswerLimits::default());
    compressed.push(b"\x1f\x8b\x08\0rest", &mut |_| {}).unwrap();
    let failed = failure(compressed.finish(&mut |_| {}));
    assert_eq!(failed.class, FailureClass::Protocol);
    assert!(failed.message.contains("sent its answer compressed"), "{failed}");
    assert_eq!(decode_whole::<ChatDraft>(&endpoint(), b"[1]").expect_err("no answer").class, FailureClass::Protocol);
}
