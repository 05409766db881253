//! Progress guards on the real binary (L11): they leave a run that makes progress alone, whatever its replies contain.

use serde_json::{Value, json};
use windlass_testkit::mcp::{FakeTool, McpHttpServer, McpScript, ToolAction};
use windlass_testkit::{Script, ScriptStep};

use crate::support::{Bench, ran};

fn run(script: Script, arguments: &[&str]) -> (Bench, crate::support::Ran) {
    let bench = Bench::new(script);
    std::fs::write(bench.workspace().join("a.txt"), "old\n").expect("written");
    let ran = bench.run(&[&["run", "go", "--session", "s"], arguments].concat());
    (bench, ran)
}

fn calls(calls: &[(&str, Value)]) -> ScriptStep {
    let mut step = ScriptStep::default();
    for (name, arguments) in calls {
        step = step.and_call(name, arguments.clone());
    }
    step
}

// proves L11, J3
#[test]
fn a_file_changed_while_a_killed_run_lay_is_read_as_it_is_now() {
    let read = || ScriptStep::call("read_file", json!({"path": "a.txt"}));
    let hang =
        ScriptStep::call("run_command", json!({"command": "touch waits; while [ ! -e go ]; do sleep 0.02; done"}));
    let bench = Bench::new(Script::of([read(), hang, read(), ScriptStep::say("Done.")]));
    let file = bench.workspace().join("a.txt");
    std::fs::write(&file, "old\n").expect("written");
    let mut child = bench.spawn(&["run", "go", "--session", "s", "--mode", "bypass"]);
    bench.wait_for_file("waits", &mut child);
    child.kill().expect("killed");
    ran(child);
    std::fs::write(&file, "new\n").expect("written");
    let resumed = bench.run(&["resume", "s", "--mode", "bypass"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Done.\n"), "{}", resumed.stderr);
    let results = bench.last_request("tool");
    assert_eq!((results[0].as_str(), results[2].as_str()), ("old\n", "new\n"));
    bench.assert_whole("resumed");
}

// proves L11
#[test]
fn an_unchanged_file_is_said_to_be_unchanged_and_the_journal_is_decided_again() {
    let read = || ScriptStep::call("read_file", json!({"path": "a.txt"}));
    let (bench, ran) = run(Script::of([read(), read(), ScriptStep::say("Done.")]), &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let unchanged = "[Unchanged since call 1.1.0, which asked the same: its result above still holds.]";
    assert_eq!(bench.last_request("tool"), ["old\n", unchanged]);
    let replayed = bench.run(&["replay", "s", "--check"]);
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
}

// proves L11
#[test]
fn a_servers_read_only_tool_is_asked_as_often_as_the_model_asks() {
    let poll = FakeTool::new("status", ToolAction::Counts).annotated(json!({"readOnlyHint": true}));
    let server = McpHttpServer::start(McpScript::with([poll])).expect("a server");
    let steps = (0..4).map(|_| ScriptStep::call("jobs__status", json!({}))).chain([ScriptStep::say("Done.")]);
    let bench = Bench::new(Script::of(steps));
    let config = bench.dir.path().join("servers.json");
    let entry = json!({"mcpServers": {"jobs": {"url": server.url(), "trust": true}}});
    std::fs::write(&config, entry.to_string()).expect("written");
    let config = config.to_string_lossy().into_owned();
    let ran = bench.run(&["run", "go", "--session", "s", "--mcp-config", &config]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{}", ran.stderr);
    assert_eq!(bench.last_request("tool"), ["step 1", "step 2", "step 3", "step 4"]);
    assert_eq!(server.times("tools/call"), 4);
    assert_eq!(bench.records("s", "Nudged"), 0, "a poll whose result changes is no cycle");
}

// proves L11
#[test]
fn a_servers_tool_that_is_declared_repeatable_is_no_cycle() {
    for (repeatable, nudges) in [(json!(["echo"]), 0), (json!([]), 1)] {
        let server = McpHttpServer::start(McpScript::echo()).expect("a server");
        let steps = (0..4).map(|_| ScriptStep::call("jobs__echo", json!({}))).chain([ScriptStep::say("Done.")]);
        let bench = Bench::new(Script::of(steps));
        let config = bench.dir.path().join("servers.json");
        let entry = json!({"mcpServers": {"jobs": {"url": server.url(), "trust": true, "repeatable": repeatable}}});
        std::fs::write(&config, entry.to_string()).expect("written");
        let config = config.to_string_lossy().into_owned();
        let ran = bench.run(&["run", "go", "--session", "s", "--mcp-config", &config, "--allow", "jobs.echo"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(bench.records("s", "Nudged"), nudges, "{repeatable}");
        assert_eq!(server.times("tools/call"), 4);
    }
}

// proves L11
#[test]
fn mistakes_of_one_reply_withhold_nothing_and_end_nothing() {
    let edit = |n: u32| ("edit_file", json!({"path": "a.txt", "old_text": format!("none {n}"), "new_text": "x"}));
    let wrong = |n: u32| ("write_file", json!({"file": format!("f{n}"), "text": "x"}));
    let command = |n: u32| ("run_command", json!({"command": format!("touch f{n}")}));
    let unknown = |n: u32| ("read_file", json!({"nothing": n}));
    let mistakes: [Vec<(&str, Value)>; 6] = [
        (0..3).map(|n| ("read_file", json!({"path": format!("missing{n}")}))).collect(),
        (0..3).map(edit).collect(),
        (0..3).map(wrong).collect(),
        (0..5).map(command).collect(),
        (0..5).map(|_| command(0)).collect(),
        (0..5).map(|_| unknown(0)).collect(),
    ];
    for reply in mistakes {
        let works = [
            ("read_file", json!({"path": "a.txt"})),
            ("edit_file", json!({"path": "a.txt", "old_text": "old", "new_text": "new"})),
            ("write_file", json!({"path": "b.txt", "content": "x"})),
        ];
        let script = Script::of([calls(&reply), calls(&reply), calls(&works), ScriptStep::say("Done.")]);
        let (bench, ran) = run(script, &["--preset", "assistant"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Done.\n"), "{reply:?}: {}", ran.stderr);
        assert_eq!(bench.records("s", "ToolWithheld"), 0, "{reply:?}");
        assert_eq!((bench.read("a.txt").as_deref(), bench.read("b.txt").as_deref()), (Some("new\n"), Some("x")));

        // In the default preset, which has every guard, the model answers after it has read the errors.
        let (bench, ran) = run(Script::of([calls(&reply), ScriptStep::say("I see.")]), &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "I see.\n"), "{reply:?}: {}", ran.stderr);
        assert_eq!(bench.last_request("tool").len(), reply.len());
        bench.assert_whole("mistaken");
    }
}

// proves T5, L11
#[test]
fn what_is_not_there_and_what_does_not_fit_are_told_apart_in_the_journal() {
    let reply = calls(&[
        ("read_file", json!({"path": "missing"})),
        ("edit_file", json!({"path": "a.txt", "old_text": "none", "new_text": "x"})),
        ("write_file", json!({"file": "f"})),
        ("run_command", json!({"command": "exit 3"})),
    ]);
    let (bench, _) = run(Script::of([reply, ScriptStep::say("I see.")]), &["--mode", "bypass"]);
    let outcome = |record: &Value| record["body"]["outcome"].as_str().map(str::to_owned);
    let finished = bench.journal("s").into_iter().filter(|record| record["kind"] == "CallFinished");
    let mut outcomes: Vec<String> = finished.filter_map(|record| outcome(&record)).collect();
    outcomes.sort();
    assert_eq!(outcomes, ["invalid_arguments", "not_found", "not_found", "ok"]);
}

// proves L6
#[test]
fn a_task_whose_model_only_talks_ends_unfinished_after_five_nudges() {
    use windlass_testkit::{AfterSteps, Scene};
    let script = Script::default()
        .scene(Scene::when("Tools are no longer available", [ScriptStep::say("Nothing was done.")]))
        .scene(Scene::when("", [ScriptStep::say("I am done.")]).then(AfterSteps::RepeatLast));
    let (bench, ran) = run(script, &["--preset", "task"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, "Nothing was done.\n"), "{}", ran.stderr);
    let users = bench.last_request("user");
    assert_eq!(users.len(), 7, "the request, five nudges, and the last one: {users:?}");
    assert!(users[1] == users[3] && users[3] != users[4], "{users:?}");
    assert!(users[4].contains("<tool_name>task_completion</tool_name>"), "{}", users[4]);
}

// proves L4
#[test]
fn a_run_at_its_cap_under_fail_leaves_the_session_failed() {
    let steps = (0..3).map(|n| ScriptStep::call("write_file", json!({"path": format!("f{n}"), "content": "x"})));
    let (bench, ran) = run(Script::of(steps), &["--preset", "task", "--dialect", "native", "--max-turns", "2"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let listed = bench.run(&["sessions", "list"]);
    assert!(listed.stdout.contains("failed"), "{}", listed.stdout);
}
