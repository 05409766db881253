//! The official SDKs as judges: what they accept and refuse, and whether they read the scripted server's answers.

use serde_json::{Value, json};
use windlass_testkit::{ModelServer, Script, ScriptStep, SdkAnswer, SdkJudge, SdkWire};

/// A good request of a wire, with a call and its result, and the changes that make it a bad one: what to put where.
struct JudgedCase {
    wire: SdkWire,
    good: Value,
    changes: Vec<(&'static str, Value)>,
}

fn table() -> [JudgedCase; 3] {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let function = json!({"name": "read_file", "description": "Reads.", "parameters": schema});
    let call = json!({"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}});
    let chat = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true}, "tool_choice": "auto",
        "tools": [{"type": "function", "function": function}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read a."},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "b"},
        ],
    });
    let responses = json!({
        "model": "m", "stream": true, "store": false, "instructions": "Be brief.",
        "tools": [{"type": "function", "name": "read_file", "description": "Reads.", "parameters": schema, "strict": false}],
        "input": [
            {"role": "user", "content": "Read a."},
            {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "b"},
        ],
    });
    let messages = json!({
        "model": "m", "stream": true, "max_tokens": 100,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "read_file", "description": "Reads.", "input_schema": schema}],
        "messages": [
            {"role": "user", "content": "Read a."},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "b"}]},
        ],
    });
    [
        JudgedCase {
            wire: SdkWire::Chat,
            good: chat,
            changes: vec![
                ("/bogus", json!(1)),
                ("/messages/1/bogus", json!(1)),
                ("/messages/1/role", json!("pilot")),
                ("/messages/3/tool_call_id", Value::Null),
                ("/tools/0/function/bogus", json!(1)),
                ("/stream_options/include_usage", json!("yes")),
            ],
        },
        JudgedCase {
            wire: SdkWire::Responses,
            good: responses,
            changes: vec![
                ("/messages", json!([])),
                ("/input/0/bogus", json!(1)),
                ("/input/1/name", json!(7)),
                ("/input/2/type", json!("result")),
                ("/tools/0/function", json!({})),
            ],
        },
        JudgedCase {
            wire: SdkWire::Messages,
            good: messages,
            changes: vec![
                ("/max_tokens", json!("many")),
                ("/stop", json!(["x"])),
                ("/system/0/cache_control/type", json!("eternal")),
                ("/messages/1/content/0/bogus", json!(1)),
                ("/messages/2/content/0/tool_use_id", Value::Null),
                ("/tools/0/parameters", json!({})),
            ],
        },
    ]
}

/// The body with `value` at `place`.
fn changed(body: &Value, place: &str, value: &Value) -> Value {
    let mut body = body.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap()[key] = value.clone();
    body
}

// proves M1
#[test]
fn the_sdks_accept_a_good_request_of_each_wire_and_refuse_every_bad_one() {
    let Some(judge) = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    for JudgedCase { wire, good, changes } in table() {
        let bad = changes.iter().map(|(place, value)| changed(&good, place, value));
        let bodies: Vec<Value> = std::iter::once(good.clone()).chain(bad).collect();
        let said = judge.objections(wire, &bodies).unwrap();
        assert_eq!(said[0], None, "{wire:?}");
        for ((place, _), said) in changes.iter().zip(&said[1..]) {
            // The sentence names the place by its last part.
            let part = place.rsplit('/').next().unwrap();
            assert!(said.as_ref().is_some_and(|said| said.contains(part)), "{wire:?} {place}: {said:?}");
        }
    }
}

// proves M1: what our client is tested against is what a provider's own client understands
#[test]
fn the_sdk_reads_the_scripted_servers_answers_whole_and_streamed() {
    let Some(judge) = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    let calls = ScriptStep::say("Both:")
        .thinking("hm")
        .and_call("read_file", json!({"path": "a"}))
        .and_call("todo", json!({"items": ["x"]}))
        .usage(30, 12);
    let server = ModelServer::start(Script::of([calls, ScriptStep::say("Done – 完.")])).unwrap();
    let first = json!([{"role": "user", "content": "go"}]);
    let second = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": "Both:"}]);
    let asked = |messages: &Value, stream: bool| {
        let mut body = json!({"model": "scripted", "messages": messages, "stream": stream});
        if stream {
            body["stream_options"] = json!({"include_usage": true});
        }
        body
    };
    let bodies = [asked(&first, false), asked(&first, true), asked(&second, false), asked(&second, true)];
    let read = judge.answers(SdkWire::Chat, &bodies, &server.base_url()).unwrap();
    let with_calls = SdkAnswer {
        text: "Both:".to_owned(),
        calls: vec![
            ("read_file".to_owned(), r#"{"path":"a"}"#.to_owned()),
            ("todo".to_owned(), r#"{"items":["x"]}"#.to_owned()),
        ],
        tokens: 42,
    };
    let last = SdkAnswer { text: "Done – 完.".to_owned(), calls: Vec::new(), tokens: 20 };
    let expected = [&with_calls, &with_calls, &last, &last].map(|answer| Ok(answer.clone()));
    assert_eq!(read, expected);
    // An answer that is none is refused, so the client does read it.
    let wrong = judge.answers(
        SdkWire::Messages,
        &[json!({"model": "m", "max_tokens": 9, "messages": first})],
        &server.base_url(),
    );
    assert!(wrong.unwrap()[0].as_ref().is_err_and(|said| said.contains("NotFound")));
}
