//! A chain of models on the binary: an outage of one model is not the person's.

use windlass_testkit::{AfterSteps, FaultKind, ModelServer, Scene, Script, ScriptStep};

use crate::support::{Bench, Ran};

fn down() -> Script {
    let fails = ScriptStep::say("").fault(FaultKind::status(503).times(100));
    Script::default().scene(Scene::when("", [fails]).then(AfterSteps::RepeatLast))
}

fn answering(text: &str) -> ModelServer {
    ModelServer::start(Script::of([ScriptStep::say(text)])).expect("a server")
}

fn go(bench: &Bench, chain: &str) -> Ran {
    bench.run(&["run", "go", "--session", "s", "--preset", "local-model", "--model", chain])
}

// proves M2: when a model's own retries are spent, the next of the chain is tried, and the events tell the story
#[test]
fn a_run_whose_first_model_is_down_goes_on_with_the_second() {
    let (bench, second) = (Bench::new(down()), answering("From the second."));
    let name = format!("{}#spare", second.base_url());
    let ran = go(&bench, &format!("scripted,{name}"));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "From the second.\n"), "{}", ran.stderr);
    assert_eq!(second.requests()[0].body["model"], "spare");
    let journal = bench.journal("s");
    let of_kind = |kind: &str| journal.iter().filter(|record| record["kind"] == kind).collect::<Vec<_>>();
    let started = of_kind("RunStarted")[0];
    assert_eq!(started["body"]["chain"], serde_json::json!(["scripted", name]));
    let failed = of_kind("AttemptFailed");
    let last = failed.last().expect("a failure");
    assert_eq!((&last["body"]["model"], &last["body"]["next"]["model"]), (&"scripted".into(), &name.as_str().into()));
    assert_eq!(of_kind("ModelReplied")[0]["body"]["model"], name);
    bench.assert_whole("a chain");
}

// proves M2: when all fail, the run ends failed and a static text says so
#[test]
fn a_chain_whose_every_entry_is_down_ends_with_plain_words() {
    let (bench, second) = (Bench::new(down()), ModelServer::start(down()).expect("a server"));
    let name = format!("{}#spare", second.base_url());
    let ran = go(&bench, &format!("scripted,{name}"));
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("None of the models answered (scripted, {name}).")), "{}", ran.stderr);
    assert!(bench.server.count() > 0 && second.count() > 0);
    bench.assert_whole("a chain that is down");
}

// proves M2: a model of the person's own settings has its name, server, figures and price in the records
#[test]
fn a_model_of_the_settings_is_used_by_its_name() {
    let (bench, second) = (Bench::new(down()), answering("Hello."));
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    let table = format!(
        "[models.spare]\nmodel = '{}#m'\nwindow = 5000\nprice_input = 1\nprice_output = 2.5\n",
        second.base_url()
    );
    std::fs::write(folder.join("windlass.toml"), table).expect("written");
    let ran = go(&bench, "scripted,spare");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Hello.\n"), "{}", ran.stderr);
    let journal = bench.journal("s");
    let started = journal.iter().find(|record| record["kind"] == "RunStarted").expect("a run");
    let model = &started["body"]["models"][1];
    assert_eq!((&model["name"], &model["window"]), (&"spare".into(), &5000.into()));
    assert_eq!(model["prices"]["usual"]["output"], 2_500_000_000_i64);
}

// proves X2, M2: a resumed run sends its conversation to no server that it was not meant for
#[test]
fn a_resumed_run_does_not_look_for_a_lost_model_at_another_server() {
    let second = ModelServer::start(down()).expect("a server");
    let name = format!("{}#spare", second.base_url());
    let chain = format!("scripted,{name}");
    let run = |model: &str| {
        ["run", "go", "--session", "s", "--message-id", "m", "--preset", "local-model", "--model", model]
            .map(str::to_owned)
    };
    let bench = Bench::new(down());
    let line = run(&chain);
    // The session with the run, its first turn, and the two failures of the first model.
    let dies = [("WINDLASS_TEST_DIE", "after:4")];
    let died = bench.run_with(&line.iter().map(String::as_str).collect::<Vec<_>>(), &dies);
    assert_eq!(died.code, -9, "{}", died.stderr);
    let failed = bench.journal("s").pop().expect("a record");
    assert_eq!((&failed["kind"], &failed["body"]["next"]["do"]), (&"AttemptFailed".into(), &"model".into()));
    let line = run("scripted");
    let ran = bench.run(&line.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains(&format!("The model `{name}` of this run is not configured any more.")),
        "{}",
        ran.stderr
    );
    assert!(bench.server.requests().iter().all(|request| request.body["model"] == "scripted"));
    bench.assert_whole("a lost model");
}

// proves J3, M2: the settings' own model, and its server, are for new runs
#[test]
fn a_resumed_run_goes_on_with_the_models_it_began_with() {
    let second = ModelServer::start(Script::when("", [ScriptStep::say("Hello.")])).expect("a server");
    let address = format!("{}#m", second.base_url());
    for named in ["own", &address, "own,scripted"] {
        let bench = Bench::new(Script::when("", [ScriptStep::say("From the wrong one.")]));
        let folder = bench.dir.path().join(".config/windlass");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("windlass.toml"), format!("[models.own]\nmodel = '{address}'\n")).expect("written");
        let line = ["run", "go", "--session", "s", "--model", named];
        let died = bench.run_with(&line, &[("WINDLASS_TEST_DIE", "after:2")]);
        assert_eq!(died.code, -9, "{named}: {}", died.stderr);
        // The key of today's first model is not for the other server.
        let ran = bench.run_with(&["resume", "s"], &[("WINDLASS_API_KEY", "sk-first-0123456789")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Hello.\n"), "{named}: {}", ran.stderr);
        let last = second.requests().pop().expect("a request");
        assert_eq!((&last.body["model"], bench.server.count()), (&"m".into(), 0), "{named}");
        let keys: Vec<&(String, String)> = last.headers.iter().filter(|(name, _)| name == "authorization").collect();
        assert!(named.starts_with("own") || keys.is_empty(), "{named}: {keys:?}");
        bench.assert_whole("resumed");
    }
}

// proves J3, M2: at the server of the settings, another model has its key
#[test]
fn a_resumed_run_keeps_another_model_of_the_same_server_and_its_key() {
    let bench = Bench::new(Script::when("", [ScriptStep::say("Hello.")]));
    let key = [("OPENAI_API_KEY", "sk-test-0123456789")];
    let dies = [key[0], ("WINDLASS_TEST_DIE", "after:2")];
    let died = bench.run_with(&["run", "go", "--session", "s", "--model", "larger"], &dies);
    assert_eq!(died.code, -9, "{}", died.stderr);
    let ran = bench.run_with(&["resume", "s"], &key);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Hello.\n"), "{}", ran.stderr);
    let last = bench.server.requests().pop().expect("a request");
    assert_eq!(last.body["model"], "larger");
    assert!(last.headers.contains(&("authorization".into(), "Bearer sk-test-0123456789".into())), "{:?}", last.headers);
}

#[test]
fn a_wrong_chain_is_refused_before_anything_is_sent() {
    let bench = Bench::new(Script::of([ScriptStep::say("x")]));
    for (chain, problem) in [
        ("scripted,scripted", "--model: the chain contains the model \"scripted\" twice"),
        ("scripted,", "--model: an entry of the chain of models is empty"),
        ("openai:a,antropic:b", "--model: there is no provider \"antropic\"; did you mean \"anthropic\"?"),
    ] {
        let mut command = bench.command(&["run", "go", "--model", chain]);
        command.env_remove("OPENAI_BASE_URL").env("OPENAI_API_KEY", "sk-test-0123456789");
        let ran = crate::support::ran(command.spawn().expect("it starts"));
        assert_eq!(ran.code, 2, "{chain}: {}", ran.stderr);
        assert!(ran.stderr.contains(problem), "{chain}: {}", ran.stderr);
    }
    assert_eq!(bench.server.count(), 0);
}
