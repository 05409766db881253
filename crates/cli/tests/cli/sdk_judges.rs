//! The official SDKs judge what the binary sends: every body must be a request by the SDK's own types.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_testkit::{ScriptStep, SdkJudge, SdkWire};

use crate::support::{Bench, script_under};

const PRESETS: [&str; 6] = ["default", "durable-chat", "local-model", "assistant", "task", "operator"];

/// The last step of a run under a preset.
fn last(preset: &str, text: &str) -> ScriptStep {
    match preset {
        "task" => ScriptStep::call("task_completion", json!({ "result": text })),
        _ => ScriptStep::say(text),
    }
}

/// The steps of three runs: several calls in a reply, a call that fails, and a run that reaches its turn cap.
fn steps(preset: &str) -> Vec<ScriptStep> {
    let read = |path: &str| ScriptStep::call("read_file", json!({ "path": path }));
    let over = |text: &str| last(preset, text);
    match preset {
        // It offers only tools of servers, and there are none.
        "durable-chat" => vec![over("One."), over("Two."), over("Three.")],
        _ => vec![
            ScriptStep::call("write_file", json!({"path": "a.md", "content": "“hé”\n"})).thinking("First a file."),
            read("a.md").and_call("list_directory", json!({"path": "."})),
            over("All done."),
            read("none.md"),
            over("There is none."),
            read("a.md"),
            ScriptStep::say("Not all is done."),
        ],
    }
}

/// The bodies of all requests of three runs in one session.
fn bodies(preset: &str) -> Vec<Value> {
    let bench = Bench::new(script_under(preset, steps(preset)));
    let run =
        |words: &str, more: &[&str]| bench.run(&[&["run", words, "--session", "s", "--preset", preset], more].concat());
    for (words, more) in [("Write a file.", &[][..]), ("Read another.", &[]), ("Go on.", &["--max-turns", "1"])] {
        let ran = run(words, more);
        assert!([0, 3].contains(&ran.code), "{preset}, {words}: {} {}", ran.code, ran.stderr);
    }
    bench.assert_whole(preset);
    bench.server.requests().into_iter().filter(|request| request.method == "POST").map(|request| request.body).collect()
}

// proves M1: the requests of all six presets, with tools, over several turns and runs
#[test]
fn every_request_of_every_preset_is_one_by_the_sdks_own_types() {
    let Some(judge) = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    let sent: Vec<(&str, Value)> =
        PRESETS.into_iter().flat_map(|preset| bodies(preset).into_iter().map(move |body| (preset, body))).collect();
    let bodies: Vec<Value> = sent.iter().map(|(_, body)| body.clone()).collect();
    let objections = judge.objections(SdkWire::Chat, &bodies).expect("the SDK judges");
    for ((preset, body), objection) in sent.iter().zip(objections) {
        assert_eq!(objection, None, "{preset}: {body}");
    }
    // What was judged: every field that a preset can put into a request.
    let fields: BTreeSet<&str> =
        bodies.iter().filter_map(Value::as_object).flatten().map(|(field, _)| field.as_str()).collect();
    let expected = [
        "max_tokens",
        "messages",
        "model",
        "reasoning_effort",
        "stop",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
    ];
    assert_eq!(fields, expected.into());
    assert!(bodies.iter().any(|body| body["tool_choice"] == "none"), "no wrap-up");
    let results = bodies.iter().flat_map(|body| body["messages"].as_array().into_iter().flatten());
    assert!(results.filter(|message| message["role"] == "tool").count() > 20, "few results");
}
