//! Real clients of the OpenAI wire: OpenAI's own SDK, and a command line for chat models.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use windlass_testkit::{FaultKind, OpenAiSdk, Packages, Scene, Script, ScriptStep};

use crate::support::served::Served;
use crate::support::{Bench, Ran, ran};

fn long(beginning: &str) -> String {
    format!("{beginning}{}", " haul away".repeat(60))
}

fn base_url(served: &Served) -> String {
    format!("http://{}/v1", served.host)
}

fn body(more: &Value) -> Value {
    let mut body = json!({"model": "windlass"});
    let (Some(body_fields), Some(more)) = (body.as_object_mut(), more.as_object()) else { panic!("objects") };
    body_fields.extend(more.clone());
    body
}

fn call(call: &str, more: &Value) -> Value {
    json!({"call": call, "body": body(more)})
}

// proves W3: OpenAI's SDK, held to its own types, talks to an agent
#[test]
fn openais_sdk_talks_to_an_agent() {
    let Some(sdk) = OpenAiSdk::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    let answer = long("Done:");
    let steps = |path: &str| {
        [ScriptStep::call("write_file", json!({"path": path, "content": "x"})), ScriptStep::say(answer.clone())]
    };
    let script = Script::when("write a.txt", steps("a.txt"))
        .scene(Scene::when("write b.txt", steps("b.txt")))
        .scene(Scene::when("and then", [ScriptStep::say("Nothing.")]))
        .scene(Scene::when("key", [ScriptStep::say("").fault(FaultKind::status(401).times(100))]));
    let bench = Bench::new(script);
    let served = Served::start(&bench, &[]);
    let messages = |text: &str| json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]);
    let calls = [
        json!({"call": "models"}),
        json!({"call": "model", "body": {"model": "windlass"}}),
        call("chat", &json!({"messages": messages("write a.txt"), "temperature": 0.5, "max_tokens": 9, "user": "u"})),
        call(
            "chat",
            &json!({"messages": messages("write b.txt"), "stream": true, "stream_options": {"include_usage": true}}),
        ),
        call("responses", &json!({"input": "write a.txt", "instructions": "Be brief."})),
        call("responses", &json!({"input": "write b.txt", "stream": true})),
        call("responses", &json!({"input": "key", "stream": true})),
    ];
    let got = sdk.call(&base_url(&served), &served.token, &calls).expect("the SDK");
    assert_eq!((&got[0]["ids"], &got[1]["id"]), (&json!(["windlass"]), &json!("windlass")));
    for (index, finish) in [(2, "stop"), (3, "stop"), (4, "completed"), (5, "completed")] {
        let one = &got[index];
        assert_eq!((&one["text"], &one["finish"]), (&json!(answer), &json!(finish)), "{one}");
        assert_eq!((&one["usage"], &one["run"]), (&json!(40), &json!("1")), "{one}");
        let session = one["session"].as_str().expect("a header");
        assert_eq!(served.get(&format!("/api/sessions/{session}")).status, 200, "{one}");
    }
    for index in [3, 5] {
        assert!(got[index]["pieces"].as_u64().is_some_and(|pieces| pieces > 0), "{}", got[index]);
    }
    assert!(got[3]["progress"].as_str().is_some_and(|text| text.contains("write_file b.txt")), "{}", got[3]);
    assert_eq!(got[5]["deltas"], json!(answer));
    assert_eq!(got[5]["events"][0], "response.created");
    assert_eq!((&got[6]["finish"], &got[6]["failure"]), (&json!("failed"), &json!("server_error")));
    assert_eq!((bench.read("a.txt").as_deref(), bench.read("b.txt").as_deref()), (Some("x"), Some("x")));
    let id = got[4]["id"].as_str().expect("an id");
    let next = [
        call("responses", &json!({"input": "and then?", "previous_response_id": id})),
        json!({"call": "chat", "body": body(&json!({"messages": messages("and then?")})),
            "headers": {"X-Windlass-Session": got[2]["session"]}}),
    ];
    for one in sdk.call(&base_url(&served), &served.token, &next).expect("the SDK") {
        assert_eq!((&one["text"], &one["run"]), (&json!("Nothing."), &json!("2")), "{one}");
    }
}

// proves W3: refusals and failures are the SDK's own errors
#[test]
fn openais_sdk_knows_the_errors() {
    let Some(sdk) = OpenAiSdk::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    let fails = |code: u16| ScriptStep::say("").fault(FaultKind::status(code).times(100));
    let bench = Bench::new(Script::when("key", [fails(401)]).scene(Scene::when("long", [fails(402)])));
    let served = Served::start(&bench, &[]);
    let user = |text: &str| json!([{"role": "user", "content": text}]);
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {}}}]);
    let cases = [
        (json!({"call": "models", "key": "sk-nobodys-0123456789"}), "AuthenticationError", json!("invalid_api_key")),
        (json!({"call": "model", "body": {"model": "gpt-5"}}), "NotFoundError", json!("model_not_found")),
        (
            json!({"call": "chat", "body": {"model": "gpt-5", "messages": user("x")}}),
            "NotFoundError",
            json!("model_not_found"),
        ),
        (
            call("chat", &json!({"messages": user("x"), "tools": tools})),
            "BadRequestError",
            json!("unsupported_parameter"),
        ),
        (call("chat", &json!({"messages": user("x"), "n": 3})), "BadRequestError", json!("unsupported_parameter")),
        (
            call("responses", &json!({"input": "x", "previous_response_id": "resp_none"})),
            "BadRequestError",
            json!("previous_response_not_found"),
        ),
        (call("chat", &json!({"messages": user("key")})), "InternalServerError", json!("model_refused_key")),
        (call("chat", &json!({"messages": user("key"), "stream": true})), "APIError", json!("model_refused_key")),
    ];
    let calls: Vec<Value> = cases.iter().map(|(call, _, _)| call.clone()).collect();
    let got = sdk.call(&base_url(&served), &served.token, &calls).expect("the SDK");
    for ((call, class, code), got) in cases.iter().zip(got) {
        let error = &got["error"];
        assert_eq!((&error["class"], &error["code"]), (&json!(class), code), "{call}: {got}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{call}: {got}");
    }
}

/// Runs `llm` with a folder of its own, in which the server is its model.
fn llm(program: &Path, home: &Path, key: &str, arguments: &[&str]) -> Ran {
    let mut command = Command::new(program.join("bin/llm"));
    command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", home).env("LLM_USER_PATH", home).env("NO_PROXY", "127.0.0.1").env("OPENAI_API_KEY", key);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ran(command.spawn().expect("llm starts"))
}

// proves W3: a command line for chat models has a conversation with an agent, streamed and not
#[test]
fn the_llm_command_line_has_a_conversation_with_an_agent() {
    let Some(program) = Packages::Llm.folder(env!("CARGO_TARGET_TMPDIR")) else { return };
    let bench = Bench::new(
        Script::when(
            "write a.txt",
            [
                ScriptStep::call("write_file", json!({"path": "a.txt", "content": "secret word"})),
                ScriptStep::say("Written."),
            ],
        )
        .scene(Scene::when("what did you", [ScriptStep::say("The secret word.")])),
    );
    let served = Served::start(&bench, &[]);
    let home = tempfile::tempdir().expect("a folder");
    let models = format!(
        "- model_id: agent\n  model_name: windlass\n  api_base: {0}\n  api_key_name: windlass\n\
         - model_id: responding-agent\n  model_name: windlass\n  api_base: {0}\n  api_key_name: windlass\n  responses: true\n",
        base_url(&served)
    );
    std::fs::write(home.path().join("extra-openai-models.yaml"), models).expect("written");
    let said = |arguments: &[&str]| {
        let ran = llm(&program, home.path(), &served.token, &[arguments, &["--key", &served.token]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.stdout.trim().to_owned()
    };
    assert_eq!(said(&["prompt", "-m", "agent", "-s", "Be brief.", "write a.txt"]), "Written.");
    assert_eq!(bench.read("a.txt").as_deref(), Some("secret word"));
    // The client sends the whole conversation: it goes on in a fork, where the call is known.
    assert_eq!(said(&["prompt", "-c", "what did you write?"]), "The secret word.");
    let sent = bench.server.requests().last().expect("a request").body.to_string();
    assert!(sent.contains("write_file") && !sent.contains("earlier-conversation"), "{sent}");
    assert_eq!(said(&["prompt", "-m", "agent", "--no-stream", "write a.txt"]), "Written.");
    assert_eq!(said(&["prompt", "-m", "responding-agent", "write a.txt"]), "Written.");
    let refused =
        llm(&program, home.path(), "none", &["prompt", "-m", "agent", "--key", "sk-nobodys-0123456789", "hi"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("no valid token"), "{refused:?}");
}
