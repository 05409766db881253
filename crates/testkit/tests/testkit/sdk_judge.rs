//! The official SDKs as judges: what they accept and refuse, and whether they read the scripted server's answers.

use serde_json::{Value, json};
use windlass_testkit::{FaultKind, ModelServer, Script, ScriptStep, SdkAnswer, SdkJudge, SdkWire};

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

/// Bodies for two turns of a conversation, each whole and streamed.
fn asked(wire: SdkWire) -> Vec<Value> {
    let first = json!([{"role": "user", "content": [{"type": text_type(wire), "text": "go"}]}]);
    let mut second = first.clone();
    let reply = match wire {
        SdkWire::Messages => json!([{"type": "text", "text": "Both:"}]),
        SdkWire::Chat | SdkWire::Responses => json!("Both:"),
    };
    second.as_array_mut().unwrap().push(json!({"role": "assistant", "content": reply}));
    let body = |(said, stream): (&Value, bool)| match wire {
        SdkWire::Chat if stream => {
            json!({"model": "m", "messages": said, "stream": true, "stream_options": {"include_usage": true}})
        }
        SdkWire::Chat => json!({"model": "m", "messages": said, "stream": false}),
        SdkWire::Responses => json!({"model": "m", "input": said, "store": false, "stream": stream}),
        SdkWire::Messages => json!({"model": "m", "messages": said, "max_tokens": 99, "stream": stream}),
    };
    [(&first, false), (&first, true), (&second, false), (&second, true)].into_iter().map(body).collect()
}

fn text_type(wire: SdkWire) -> &'static str {
    match wire {
        SdkWire::Chat | SdkWire::Messages => "text",
        SdkWire::Responses => "input_text",
    }
}

// proves M1: what our client is tested against is what a provider's own client understands
#[test]
fn the_sdks_read_the_scripted_servers_answers_whole_and_streamed() {
    let Some(judge) = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    let calls = ScriptStep::say("Both:")
        .thinking("hm")
        .and_call("read_file", json!({"path": "a"}))
        .and_call("todo", json!({"items": ["x"]}))
        .usage(30, 12);
    let server = ModelServer::start(Script::of([calls, ScriptStep::say("Done – 完.")])).unwrap();
    let call = |name: &str, arguments: &Value| (name.to_owned(), arguments.to_string());
    let with_calls = SdkAnswer {
        text: "Both:".to_owned(),
        calls: vec![call("read_file", &json!({"path": "a"})), call("todo", &json!({"items": ["x"]}))],
        tokens: 42,
    };
    let last = SdkAnswer { text: "Done – 完.".to_owned(), calls: Vec::new(), tokens: 20 };
    let expected = [&with_calls, &with_calls, &last, &last].map(|answer| Ok(answer.clone()));
    for wire in [SdkWire::Chat, SdkWire::Messages, SdkWire::Responses] {
        let mut read = judge.answers(wire, &asked(wire), &server.base_url()).unwrap();
        // The SDK of Messages gives arguments as objects, written again with other spaces.
        for (_, arguments) in read.iter_mut().flatten().flat_map(|answer| &mut answer.calls) {
            *arguments = serde_json::from_str::<Value>(arguments).unwrap().to_string();
        }
        assert_eq!(read, expected, "{wire:?}");
    }
    assert_eq!(server.refused(), Vec::<String>::new());
}

// An answer that is none is refused, so the clients do read it.
#[test]
fn the_sdks_refuse_an_answer_that_is_none() {
    let Some(judge) = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    let broken = FaultKind::Status { code: 200, body: Some(r#"{"hello": "world"}"#.to_owned()), retry_after: None };
    for wire in [SdkWire::Chat, SdkWire::Messages, SdkWire::Responses] {
        let server = ModelServer::start(Script::of([ScriptStep::say("hi").fault(broken.clone())])).unwrap();
        let read = judge.answers(wire, &asked(wire)[..1], &server.base_url()).unwrap();
        assert!(read[0].as_ref().is_err_and(|said| said.starts_with("the answer: ")), "{wire:?} {read:?}");
    }
}
