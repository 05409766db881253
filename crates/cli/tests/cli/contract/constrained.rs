//! Calls that the server holds to a schema (`constrained` in a model's table), on the real binary.

use serde_json::{Value, json};
use windlass_testkit::{FaultKind, ModelServer, Script, ScriptStep};

use crate::support::Bench;

const TABLE: &str = "[models.held]\nmodel = 'scripted'\nconstrained = true\n";

fn bench(steps: impl IntoIterator<Item = ScriptStep>) -> Bench {
    let bench = Bench::new(Script::of(steps));
    let config = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("windlass.toml"), TABLE).expect("written");
    std::fs::write(bench.workspace().join("a.txt"), "one").expect("written");
    bench
}

fn call() -> ScriptStep {
    ScriptStep::say(r#"{"name": "local.read_file", "arguments": {"path": "a.txt"}}"#)
}

// proves T4: the schema is sent, a reply in it is a call or an answer, and what is called is checked as ever
#[test]
fn replies_are_held_to_one_call_or_an_answer() {
    let bench = bench([call(), ScriptStep::say(r#"{"answer": "It says \"one\"."}"#)]);
    let ran = bench.run(&["run", "what does a.txt say?", "--model", "held", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "It says \"one\".\n"), "{}", ran.stderr);
    let requests = bench.server.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert!(request.body.get("tools").is_none(), "calls are text");
        let format = &request.body["response_format"];
        assert_eq!((&format["type"], &format["json_schema"]["name"]), (&json!("json_schema"), &json!("reply")));
        let forms = format["json_schema"]["schema"]["anyOf"].as_array().expect("forms");
        let read = json!({
            "type": "object",
            "properties": {
                "name": {"const": "local.read_file"},
                "arguments": {
                    "type": "object",
                    "properties": {"path": {"type": "string", "maxLength": 1000}},
                    "required": ["path"],
                    "additionalProperties": false,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        });
        assert!(forms.contains(&read), "{forms:?}");
        let prefix = request.body["messages"][0]["content"].as_str().expect("a prefix");
        assert!(prefix.ends_with("{\"answer\": \"what you say to the person\"}."), "{prefix}");
    }
    assert_eq!(bench.records("s", "CallFinished"), 1);
    bench.assert_whole("constrained");
}

// proves T4: a server that refuses the schema is asked without it; that is said once
#[test]
fn a_server_that_refuses_the_schema_is_asked_without_it() {
    let refused = call().fault(FaultKind::status(400).times(1));
    let bench = bench([refused, ScriptStep::say(r#"{"answer": "One."}"#)]);
    let ran = bench.run(&["run", "what does a.txt say?", "--model", "held", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "One.\n"), "{}", ran.stderr);
    let sent: Vec<bool> =
        bench.server.requests().iter().map(|request| request.body.get("response_format").is_some()).collect();
    assert_eq!(sent, [true, false, false]);
    assert_eq!(
        ran.stderr.matches("going on without the schema, by the instructions alone").count(),
        1,
        "{}",
        ran.stderr
    );
}

// proves T4: a text that the bound cut is not written to a file
#[test]
fn a_call_that_was_cut_at_the_bound_is_not_made() {
    let content = "x".repeat(1000);
    let cut = json!({"name": "local.write_file", "arguments": {"path": "b.txt", "content": content}}).to_string();
    let bench = bench([ScriptStep::say(&cut), ScriptStep::say(r#"{"answer": "I could not."}"#)]);
    let ran = bench.run(&["run", "write b.txt", "--model", "held", "--session", "s"]);
    assert_eq!((ran.code, bench.read("b.txt")), (0, None), "{}", ran.stderr);
    let told: Vec<Value> = bench.journal("s").into_iter().filter(|record| record["kind"] == "Nudged").collect();
    assert!(told.len() == 1 && told[0].to_string().contains("reached the limit of 1000 characters"), "{told:?}");
}

// proves T4, M2: models of one chain are told the same, so the answer of each is read as it was asked for
#[test]
fn the_answer_of_a_fallback_model_is_no_json() {
    let down = ScriptStep::say("never").fault(FaultKind::status(503).times(100));
    let bench = bench([down]);
    let second = ModelServer::start(Script::of([ScriptStep::say(r#"{"answer": "From the second."}"#)]));
    let second = second.expect("a server");
    let other = format!("{TABLE}[models.other]\nmodel = '{}#spare'\ndialect = 'bare_json'\n", second.base_url());
    std::fs::write(bench.dir.path().join(".config/windlass/windlass.toml"), other).expect("written");
    let ran = bench.run(&["run", "what does a.txt say?", "--model", "held,other", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "From the second.\n"), "{}", ran.stderr);
    let request = &second.requests()[0].body;
    assert!(request.get("response_format").is_none(), "its entry does not ask for it");
    let prefix = request["messages"][0]["content"].as_str().expect("a prefix");
    assert!(prefix.contains("{\"answer\": \"what you say to the person\"}"), "{prefix}");
}
