//! `windlass models` on the binary: what can be used, and whether it answers.

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, FaultKind, ModelServer, Scene, Script, ScriptStep};

use crate::support::{Bench, Ran, ran};

fn always(step: ScriptStep) -> Script {
    Script::default().scene(Scene::when("", [step]).then(AfterSteps::RepeatLast))
}

// proves M2, W2: the chain, what is known of it, and the date of the table
#[test]
fn the_chain_is_listed_with_what_is_known_of_it() {
    let bench = Bench::new(always(ScriptStep::say("yes")));
    let nothing_here = [("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1"), ("OPENAI_API_KEY", "sk-test-0123456789")];
    let chain = "scripted,gpt-4.1-mini,http://127.0.0.1:1/v1#spare";
    let ran = bench.run_with(&["models", "--json", "--model", chain], &nothing_here);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let listing: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let names: Vec<&str> =
        listing["chain"].as_array().expect("a chain").iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["scripted", "gpt-4.1-mini", "http://127.0.0.1:1/v1#spare"]);
    assert!(listing["chain"][1]["window"].is_u64(), "{listing}");
    assert!(listing["table_date"].is_string());
    assert!(listing["servers"][1]["problem"].is_string(), "a server that is down is told: {listing}");
    let ran = bench.run_with(&["models", "--model", chain], &nothing_here);
    assert!(ran.stdout.starts_with("the chain, in the order it is tried\n  scripted"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("sk-test-0123456789"));
}

// proves M2: one tiny call to each model; what failed is told with its advice
#[test]
fn each_model_of_the_chain_is_tried() {
    let (bench, second) = (
        Bench::new(always(ScriptStep::say("yes").usage(9, 1))),
        ModelServer::start(always(ScriptStep::say("").fault(FaultKind::status(401).times(100)))).expect("a server"),
    );
    let ran = bench.run(&["models", "test"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.starts_with("ok    scripted: answered in ") && ran.stdout.contains(", 9 tokens in, 1 out"),
        "{}",
        ran.stdout
    );
    let refused = format!("{}#m", second.base_url());
    let ran = bench.run(&["models", "test", &format!("scripted,{refused}")]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains(&format!("\nfail  {refused}: ")) && ran.stdout.contains("WINDLASS_API_KEY"),
        "{}",
        ran.stdout
    );
    assert_eq!((bench.server.count(), second.count()), (2, 1), "one call each");
    let ran = bench.run(&["models", "test", &refused, "--json"]);
    let trials: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&trials["models"][0]["ok"], &trials["models"][0]["failure"]["class"]), (&false.into(), &"auth".into()));
}

// proves M2: every server that is set up is listed, one's own names first, with what is in use; others with what they need
#[test]
fn every_provider_that_is_set_up_is_listed_and_the_others_are_named() {
    let (bench, other) = (
        Bench::new(always(ScriptStep::say("yes"))),
        ModelServer::start(always(ScriptStep::say("yes"))).expect("a server"),
    );
    let config = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&config).expect("a folder");
    let tables = "[models.mine]\nmodel = 'scripted'\nwindow = 4096\ntools = false\n[models.far]\nmodel = 'groq:x'\n";
    std::fs::write(config.join("windlass.toml"), tables).expect("written");
    let address = other.base_url();
    let env = [
        ("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1"),
        ("ANTHROPIC_BASE_URL", address.as_str()),
        ("ANTHROPIC_API_KEY", "sk-ant-0123456789"),
    ];
    let ran = bench.run_with(&["models"], &env);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in [
        "the model\n  scripted  ",
        "your own names\n  far   groq:x; ",
        "\n* mine  ",
        "window 4096; no tools",
        "\n  anthropic:scripted  ",
        "not set up\n",
        "  openrouter:ID   set OPENROUTER_API_KEY\n",
    ] {
        assert!(ran.stdout.contains(part), "{part:?}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("anthropic:ID"), "it is set up: {}", ran.stdout);
    let nothing = [("OPENAI_BASE_URL", ""), ("OPENAI_MODEL", ""), ("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1")];
    let ran = bench.run_with(&["models"], &nothing);
    assert_eq!(ran.code, 2, "there is no model: {}", ran.stdout);
}

// proves M2, M3: what is wrong is the key, whether or not a model is named; nothing is called elsewhere
#[test]
fn a_refused_key_and_a_provider_that_is_none_are_told_as_such() {
    let refusal = r#"{"error":{"message":"bad key"}}"#;
    let address = crate::first_run::doctor::server("401 Unauthorized", "application/json", refusal);
    let bench = Bench::new(always(ScriptStep::say("yes")));
    let env = [("OPENAI_BASE_URL", address.as_str()), ("OPENAI_MODEL", ""), ("OPENAI_API_KEY", "sk-wrong-012345")];
    let ran = bench.run_with(&["run", "hello"], &env);
    assert!(ran.code == 2 && ran.stderr.contains("Set OPENAI_API_KEY to a key that is valid there"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("no model is named"), "{}", ran.stderr);
    let keys = [("OPENAI_BASE_URL", ""), ("OPENAI_MODEL", ""), ("OPENAI_API_KEY", "sk-test-0123456789")];
    for (model, words) in [
        ("azure:gpt-5", "there is no provider \"azure\": write https://RESOURCE.openai.azure.com/openai/v1#DEPLOYMENT"),
        (
            "claude-sonnet-4-5",
            "there is no key for Anthropic, whose model claude-sonnet-4-5 is named: set ANTHROPIC_API_KEY",
        ),
    ] {
        let ran = bench.run_with(&["run", "--model", model, "hello"], &keys);
        assert!(ran.code == 2 && ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert_eq!(bench.server.count(), 0);
}

/// Runs a command in whose environment and settings no server is named.
fn without_server(bench: &Bench, line: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = bench.command(line);
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL").envs(environment.iter().copied());
    command.env("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1");
    ran(command.spawn().expect("the binary starts"))
}

// proves W2, J3: a session whose server was named by a flag says how it goes on
#[test]
fn a_session_without_its_server_prints_the_line_that_names_it_again() {
    let done = || ScriptStep::say("Done.");
    for (verb, script, environment) in [
        ("retry", Script::of([done().fault(FaultKind::status(400))]), &[][..]),
        ("resume", Script::of([done(), done()]), &[("WINDLASS_TEST_DIE", "after:2")]),
    ] {
        let bench = Bench::new(script);
        let url = bench.server.base_url();
        let begun = ["run", "go", "--session", "s", "--base-url", &url, "--model", "m"];
        assert_ne!(without_server(&bench, &begun, environment).code, 0);
        let bare = without_server(&bench, &[verb, "s"], &[]);
        let line = format!("windlass {verb} s --model m --base-url {url}");
        assert!(bare.code == 2 && bare.stderr.contains(&format!("`{line} --data-dir ")), "{}", bare.stderr);
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let again = without_server(&bench, &words, &[]);
        assert_eq!((again.code, again.stdout.as_str()), (0, "Done.\n"), "{line}: {}", again.stderr);
    }
}

// proves M2: a long list is shown whole, and no id fills the screen
#[test]
fn a_long_list_is_shown_whole_and_a_long_id_is_shortened() {
    let long = "x".repeat(100_000);
    let ids = (0..3_000).map(|number| format!("vendor/model-{number}")).chain([long]);
    let list: Vec<Value> = ids.map(|id| json!({ "id": id })).collect();
    let script = always(ScriptStep::say("yes")).answering("/v1/models", json!({"object": "list", "data": list}));
    let bench = Bench::new(script);
    let listed = bench.run_with(&["models"], &[("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1")]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(listed.stdout.contains("vendor/model-2999") && listed.stdout.contains("xxx…"), "all are listed");
    assert!(listed.stdout.lines().all(|line| line.chars().count() < 400), "no line is long");
}
