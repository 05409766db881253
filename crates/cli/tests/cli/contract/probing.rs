//! What servers say of their models, what calls show, and what a run does with it (M8).

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::Bench;

/// Whether the template of a model has a place for tools.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Template {
    WithTools,
    WithoutTools,
}

/// What llama.cpp says of itself and its model.
fn llama_cpp(script: Script, template: Template) -> Script {
    let tools = template == Template::WithTools;
    let list = json!({"object": "list", "data": [{"id": "scripted", "owned_by": "llamacpp", "meta": {"n_ctx": 8192}}]});
    let props = json!({
        "default_generation_settings": {"n_ctx": 8192},
        "modalities": {"vision": false},
        "chat_template_caps": {
            "supports_tools": tools, "supports_tool_calls": tools, "supports_parallel_tool_calls": false,
        },
    });
    script.answering("/v1/models", list).answering("/props", props)
}

/// What Ollama says of itself and its model.
fn ollama(script: Script, capabilities: &Value, window: Option<u64>) -> Script {
    let list = json!({"object": "list", "data": [{"id": "scripted", "owned_by": "library"}]});
    let show = json!({"capabilities": capabilities, "model_info": {"m.context_length": 131_072}});
    let loaded = window.map(|window| json!({"name": "scripted", "model": "scripted", "context_length": window}));
    let running = json!({"models": loaded.into_iter().collect::<Vec<_>>()});
    script.answering("/v1/models", list).answering("/api/show", show).answering("/api/ps", running)
}

fn weather(cities: &[&str]) -> ScriptStep {
    cities.iter().fold(ScriptStep::default(), |step, city| step.and_call("get_weather", json!({"city": city})))
}

/// A model that calls tools, several at once, and obeys a schema.
fn able() -> Script {
    Script::default()
        .scene(Scene::when("twice in one reply", [weather(&["Paris", "Rome"])]).then(AfterSteps::RepeatLast))
        .scene(Scene::when("get_weather", [weather(&["Paris"])]).then(AfterSteps::RepeatLast))
        .scene(Scene::when("Name a colour", [ScriptStep::say(r#"{"colour":"red"}"#)]).then(AfterSteps::RepeatLast))
        .scene(Scene::when("", [ScriptStep::say("done")]).then(AfterSteps::RepeatLast))
}

fn started(bench: &Bench, key: &str) -> Value {
    let journal = bench.journal(key);
    journal.iter().find(|record| record["kind"] == "RunStarted").expect("a run")["body"]["models"][0].clone()
}

// proves M8: what a server says costs nothing, and holds for the run
#[test]
fn a_model_without_tools_by_its_servers_word_starts_in_a_text_dialect() {
    let block = ScriptStep::block("local", "list_directory", &json!({"path": "."}));
    let steps = || Script::of([block.clone(), ScriptStep::say("done")]);
    for (name, script) in [
        ("llama.cpp", llama_cpp(steps(), Template::WithoutTools)),
        ("Ollama", ollama(steps(), &json!(["completion"]), Some(8192))),
    ] {
        let bench = Bench::new(script);
        let ran = bench.run(&["run", "go", "--session", "s"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{name}: {}", ran.stderr);
        let requests = bench.server.requests();
        assert_eq!(requests.len(), 2, "{name}: no request failed first");
        assert!(requests.iter().all(|request| request.body.get("tools").is_none()), "{name}");
        let known = started(&bench, "s");
        assert_eq!((&known["window"], &known["toolless"]), (&json!(8192), &json!(true)), "{name}: {known}");
        assert_eq!(bench.records("s", "CallFinished"), 1, "{name}");
        bench.assert_whole(name);
    }
}

// proves M8: a model with tools keeps the wire's own calls, and an unknown server is asked no more than its list
#[test]
fn a_server_that_says_nothing_changes_nothing() {
    for (script, software) in [
        (Script::of([ScriptStep::say("done")]), Value::Null),
        (llama_cpp(Script::of([ScriptStep::say("done")]), Template::WithTools), json!("llama_cpp")),
    ] {
        let bench = Bench::new(script);
        let ran = bench.run(&["run", "go", "--session", "s"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(bench.server.requests()[0].body["tools"].is_array());
        let known = started(&bench, "s");
        assert_eq!((&known["software"], known.get("toolless")), (&software, None), "{known}");
    }
}

// proves M8: the calls are announced, the table is printed, and what was found is remembered with its date
#[test]
fn a_probe_makes_small_calls_and_remembers_what_they_showed() {
    let bench = Bench::new(llama_cpp(able(), Template::WithTools));
    let ran = bench.run(&["models", "probe"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let announced = ran.stderr.find("up to 3 small calls").expect("announced");
    assert!(announced < ran.stderr.find("one call of a tool").expect("shown"), "{}", ran.stderr);
    let mut lines = ran.stdout.lines();
    assert_eq!(
        lines.next().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).as_deref(),
        Some("model native calls parallel schema images window date")
    );
    let row: Vec<&str> = lines.next().expect("a row").split_whitespace().collect();
    assert_eq!(row[..6], ["scripted", "yes", "yes", "yes", "no", "8192"], "{}", ran.stdout);
    assert!(row[6].starts_with("20") && row[6].len() == 10, "{}", ran.stdout);
    assert_eq!(bench.server.count(), 3);

    let files: Vec<_> = std::fs::read_dir(bench.data().join("models")).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 1);
    let kept: Value = serde_json::from_slice(&std::fs::read(files[0].path()).expect("read")).expect("JSON");
    assert_eq!((&kept["model"], &kept["probed"]["parallel_calls"]), (&json!("scripted"), &json!(true)));
    assert!(kept["probed"]["at"].is_string() && kept["declared"]["window"] == 8192, "{kept}");

    let listed = bench.run(&["models"]);
    assert!(listed.stdout.contains("tools, parallel calls, JSON schema; probed 20"), "{}", listed.stdout);
    let doctor = bench.run(&["doctor"]);
    let said = "tools, parallel calls, JSON schema, no images (probed 20";
    assert!(doctor.stdout.contains(said) && doctor.stdout.contains("8192 tokens"), "{}", doctor.stdout);
    let json = bench.run(&["models", "probe", "scripted", "--json"]);
    let report: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!((&report["models"][0]["ok"], &report["models"][0]["window"]), (&json!(true), &json!(8192)), "{report}");
}

// proves M8: a call of another tool, or one that does not fit the tool's schema, is no sign that the model can call tools
#[test]
fn a_call_that_is_not_of_the_offered_tool_shows_nothing_in_a_probe() {
    for (called, native) in [
        (ScriptStep::call("zzz", json!({"city": "Paris"})), false),
        (ScriptStep::call("get_weather", json!({"town": "Paris"})), false),
        (ScriptStep::call("get_weather", json!({"city": 3})), false),
        (ScriptStep::call("get_weather", json!({"city": "Paris"})).and_call("zzz", json!({})), true),
    ] {
        let bench = Bench::new(Script::default().scene(Scene::when("", [called]).then(AfterSteps::RepeatLast)));
        let probed = bench.run(&["models", "probe", "--json"]);
        let report: Value = serde_json::from_str(&probed.stdout).expect("JSON");
        let found = &report["models"][0];
        assert_eq!((&found["native_calls"], &found["parallel_calls"]), (&json!(native), &json!(false)), "{found}");
    }
}

// proves M8: what calls showed counts more than what the server says
#[test]
fn a_remembered_probe_is_used_by_later_runs() {
    let bench = Bench::new(llama_cpp(able(), Template::WithoutTools));
    let before = bench.run(&["run", "go", "--session", "before"]);
    assert_eq!(before.code, 0, "{}", before.stderr);
    assert_eq!(started(&bench, "before")["toolless"], json!(true));
    assert_eq!(bench.run(&["models", "probe"]).code, 0);
    let after = bench.run(&["run", "go", "--session", "after"]);
    assert_eq!(after.code, 0, "{}", after.stderr);
    assert_eq!(started(&bench, "after").get("toolless"), None);
}

// proves M8: a reply that was cut off before the call shows nothing, and is not held against the model
#[test]
fn a_model_that_thinks_past_the_end_of_a_probe_keeps_its_tools() {
    let thinks = || ScriptStep::default().thinking("Let me see. ".repeat(100)).finish("length");
    let script = Script::default()
        .scene(Scene::when("get_weather", [thinks()]).then(AfterSteps::RepeatLast))
        .scene(Scene::when("Name a colour", [thinks()]).then(AfterSteps::RepeatLast))
        .scene(Scene::when("", [ScriptStep::say("done")]).then(AfterSteps::RepeatLast));
    let bench = Bench::new(script);
    let probed = bench.run(&["models", "probe", "--json"]);
    let report: Value = serde_json::from_str(&probed.stdout).expect("JSON");
    let found = &report["models"][0];
    for ability in ["native_calls", "parallel_calls", "json_schema"] {
        assert_eq!(found[ability], Value::Null, "{ability}: {found}");
    }
    let longest = &bench.server.requests()[0].body["max_tokens"];
    assert!(longest.as_u64().is_some_and(|longest| longest >= 2_000), "there is room to think: {longest}");
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    assert_eq!(started(&bench, "s").get("toolless"), None);
}

// proves M8: a probe asks for the schema as such, also after one that found none
#[test]
fn a_second_probe_of_a_schema_does_not_ask_by_a_tool() {
    let script = Script::default()
        .scene(Scene::when("get_weather", [weather(&["Paris"])]).then(AfterSteps::RepeatLast))
        .scene(Scene::when("Name a colour", [ScriptStep::say("Red.")]).then(AfterSteps::RepeatLast));
    let bench = Bench::new(script);
    for round in ["first", "second"] {
        let probed = bench.run(&["models", "probe", "--json"]);
        let report: Value = serde_json::from_str(&probed.stdout).expect("JSON");
        assert_eq!(report["models"][0]["json_schema"], json!(false), "{round}: {report}");
        let asked = bench.server.requests().pop().expect("a request").body;
        assert_eq!(asked["response_format"]["type"], "json_schema", "{round}: {asked}");
        assert_eq!(asked.get("tools"), None, "{round}: {asked}");
    }
}

// proves M8, J9: a damaged file is left out with a note
#[test]
fn a_damaged_memory_is_told_and_left_out() {
    let bench = Bench::new(llama_cpp(able(), Template::WithTools));
    assert_eq!(bench.run(&["run", "go", "--session", "s"]).code, 0);
    let file =
        std::fs::read_dir(bench.data().join("models")).expect("a folder").flatten().next().expect("a file").path();
    std::fs::write(&file, "{\"server\":").expect("written");
    let ran = bench.run(&["run", "go", "--session", "t"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("can't be read") && ran.stderr.contains("windlass models probe"), "{}", ran.stderr);
    assert!(!bench.run(&["run", "go", "--session", "u"]).stderr.contains("can't be read"), "it was written anew");
}

// proves M8: a probe that can't be made says why, with the exit code of a failure
#[test]
fn a_probe_of_a_server_that_is_down_fails_with_a_sentence() {
    let bench = Bench::new(able());
    let ran = bench.run(&["models", "probe", "http://127.0.0.1:1/v1#m"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("failed: ") && ran.stdout.contains("--base-url"), "{}", ran.stdout);
    assert!(!bench.data().join("models").exists(), "nothing was found");
}

// proves M8: a silent cut is told once, with the line that mends it, and the next turn fits what the server has
#[test]
fn a_silent_cut_is_told_with_its_remedy_and_the_next_turn_fits() {
    let long = "heave away haul away ".repeat(1_200);
    for (script, remedy) in [
        (ollama as fn(Script, &Value, Option<u64>) -> Script, "`OLLAMA_CONTEXT_LENGTH="),
        (|script, _, _| llama_cpp_without_window(script), "`-c "),
        (|script, _, _| script, "`window = N` under [models.NAME]"),
    ] {
        let steps = [
            ScriptStep::call("read_file", json!({"path": "long.txt"})).usage(3_900, 5),
            ScriptStep::call("read_file", json!({"path": "more.txt"})).usage(4_096, 5),
            ScriptStep::say("done").usage(4_000, 5),
        ];
        let bench = Bench::new(script(Script::of(steps), &json!(["tools"]), None));
        std::fs::write(bench.workspace().join("long.txt"), &long).expect("written");
        std::fs::write(bench.workspace().join("more.txt"), &long).expect("written");
        let ran = bench.run(&["run", &long[..8_400], "--session", "s"]);
        assert_eq!(ran.stderr.matches("the server read only ").count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(remedy), "{remedy}: {}", ran.stderr);
        let journal = bench.journal("s");
        let budgets: Vec<&Value> = journal
            .iter()
            .filter(|record| record["kind"] == "TurnStarted")
            .map(|record| &record["body"]["budget"]["window"])
            .collect();
        assert_eq!(budgets[0], &Value::Null, "{budgets:?}");
        assert!(budgets.last().expect("a turn").as_u64().is_some_and(|window| window <= 4_096), "{budgets:?}");
        assert!(journal.iter().any(|record| record["kind"] == "Compacted"), "the next turn is shortened");
        bench.assert_whole("a silent cut");
    }
}

/// What an old llama.cpp says of itself.
fn llama_cpp_without_window(script: Script) -> Script {
    let list = json!({"object": "list", "data": [{"id": "scripted", "owned_by": "llamacpp"}]});
    script.answering("/v1/models", list)
}
