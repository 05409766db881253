//! Limits on what may be spent (M7): what the binary does when one is reached, and what it says was used.

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::Bench;

/// A model that writes a file in its first replies and then is done.
fn worker() -> Script {
    let calls = (1..=2).map(|step| ScriptStep::call("write_file", json!({"path": format!("{step}"), "content": "x"})));
    let steps: Vec<ScriptStep> = calls.chain([ScriptStep::say("All done.")]).collect();
    Script::default().scene(Scene::when("", steps).then(AfterSteps::RepeatLast))
}

// proves M7, L3, W2
#[test]
fn a_limit_ends_an_unattended_run_with_code_3_and_a_retry_with_a_higher_one_finishes_it() {
    let bench = Bench::new(worker());
    let stopped = bench.run(&["run", "go", "--session", "s", "--max-run-tokens", "1"]);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (3, ""), "{}", stopped.stderr);
    for words in ["a spending limit is reached", "run_token_limit is 1 tokens", "`windlass retry s --max-run-tokens N"]
    {
        assert!(stopped.stderr.contains(words), "{words}: {}", stopped.stderr);
    }
    assert_eq!(bench.server.requests().len(), 0, "no model was called");
    let again = bench.run(&["retry", "s"]);
    assert_eq!((again.code, bench.server.requests().len()), (3, 0), "the limit holds for a retry: {}", again.stderr);
    assert!(again.stderr.contains("the run keeps its limits: --max-run-tokens 1\n"), "{}", again.stderr);
    let done = bench.run(&["retry", "s", "--max-run-tokens", "1000000"]);
    assert_eq!((done.code, done.stdout.as_str()), (0, "All done.\n"), "{}", done.stderr);
    assert_eq!(bench.read("2").as_deref(), Some("x"));
    bench.assert_whole("limits");
}

/// A bench whose person has these rows in their own settings.
fn bench_with(rows: &str) -> Bench {
    // The server counts what it is sent.
    let bench = Bench::new(worker().measured());
    let config = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("windlass.toml"), rows).expect("written");
    bench
}

// proves M7, L3: sessions of one day, each a process of its own
#[test]
fn what_sessions_of_a_day_spend_together_ends_the_next_run_with_code_3() {
    for row in ["day_token_limit", "agent_token_limit"] {
        let bench = bench_with(&format!("[policy]\n{row} = 25_000\n"));
        let mut codes = Vec::new();
        let mut last = String::new();
        while codes.last() != Some(&3) && codes.len() < 40 {
            let session = format!("s{}", codes.len());
            let ran = bench.run(&["run", "go", "--session", &session]);
            codes.push(ran.code);
            last = ran.stderr;
        }
        assert!(codes.len() > 1 && codes[..codes.len() - 1].iter().all(|code| *code == 0), "{row}: {codes:?} {last}");
        assert!(last.contains(&format!("{row} is 25000 tokens")), "{row}: {last}");
    }
}

/// The tokens of a turn of `endless`.
const TURN: u64 = 1_050;

/// A model that waits with its first call until both processes are under way, and then works on and on.
fn endless() -> Script {
    let scene = |name: &str| {
        let waits = json!({"command": format!("touch {name}; until test -e go; do sleep 0.01; done")});
        let writes = json!({"path": format!("of-{name}"), "content": "$STEP"});
        let steps = [ScriptStep::call("run_command", waits), ScriptStep::call("write_file", writes)];
        Scene::when(name, steps.map(|step| step.usage(TURN - 50, 50))).then(AfterSteps::RepeatLast)
    };
    Script::default().scene(scene("first")).scene(scene("second"))
}

// proves M7: what is under way when the other one counts is all that may be over
#[test]
fn two_processes_at_once_exceed_the_limit_of_a_day_by_a_call_each_at_most() {
    let limit: u64 = 60_000;
    let bench = Bench::new(endless());
    let rows = format!("[policy]\nday_token_limit = {limit}\nturn_cap = 500\n");
    std::fs::create_dir_all(bench.dir.path().join(".config/windlass")).expect("a folder");
    std::fs::write(bench.dir.path().join(".config/windlass/windlass.toml"), rows).expect("written");
    let mut children = ["first", "second"]
        .map(|name| (name, bench.spawn(&["run", name, "--session", name, "--mode", "bypass", "--sandbox", "off"])));
    for (name, child) in &mut children {
        bench.wait_for_file(name, child);
    }
    std::fs::write(bench.workspace().join("go"), "").expect("written");
    let mut spent = Vec::new();
    for (name, child) in children {
        let ran = crate::support::ran(child);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("day_token_limit is {limit} tokens")), "{name}: {}", ran.stderr);
        let replies = bench.records(name, "ModelReplied");
        assert!(replies > 2, "{name} was under way: {replies} replies");
        spent.push(u64::try_from(replies).expect("a number") * TURN);
    }
    let total: u64 = spent.iter().sum();
    assert!(total <= limit + 2 * TURN, "{spent:?}");
    assert!(total > limit / 2, "{spent:?} is far from the limit");
    bench.assert_whole("two processes");
}

// proves M7: a limit of money that would do nothing is refused, and a limit of nothing is one
#[test]
fn a_limit_of_money_needs_a_known_price() {
    let bench = Bench::new(worker());
    for row in [&["--max-cost", "0.50"][..], &["--max-cost", "0"]] {
        let ran = bench.run(&[&["run", "go", "--model", "https://llm.example/v1#big"][..], row].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        for words in ["`run_cost_limit` can't be kept", "`big`", "`run_token_limit`"] {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
    }
    assert_eq!(bench.server.requests().len(), 0, "no model was called");
}

// proves M7
#[test]
fn a_limit_that_is_none_is_refused_with_a_sentence() {
    let bench = Bench::new(worker());
    for (line, words) in [
        (&["run", "go", "--max-cost", "-1"][..], "can't be negative"),
        (&["run", "go", "--max-cost", "much"], "not an amount of dollars such as 0.50"),
        (&["run", "go", "--max-run-tokens", "0"], "write a whole number of tokens, at least 1"),
        (&["run", "go", "--max-run-tokens", "-5"], "write a whole number of tokens, at least 1"),
        (&["run", "go", "--max-turns", "0"], "write a whole number of turns, at least 1"),
        (&["run", "go", "--max-turns", "many"], "write a whole number of turns, at least 1"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code, 2, "{line:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{line:?}: {}", ran.stderr);
    }
    for row in [
        "run_cost_limit = '-1'",
        "run_cost_limit = -0.5",
        "session_token_limit = 0",
        "run_time_limit_ms = -3",
        "agent_token_limit = 0",
    ] {
        std::fs::write(bench.workspace().join("windlass.toml"), format!("[policy]\n{row}\n")).expect("written");
        let ran = bench.run(&["run", "go"]);
        assert_eq!(ran.code, 2, "{row}: {}", ran.stderr);
        assert!(ran.stderr.contains("windlass.toml:2"), "{row}: {}", ran.stderr);
    }
}

// proves M7, W2
#[test]
fn usage_adds_up_the_calls_of_all_sessions_and_counts_this_machine_as_free() {
    let bench = Bench::new(worker());
    let nothing = bench.run(&["usage"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""), "{}", nothing.stderr);
    for session in ["one", "two"] {
        assert_eq!(bench.run(&["run", "go", "--session", session]).code, 0);
    }
    let lines = |arguments: &[&str]| -> Vec<Value> {
        let ran = bench.run(&[&["usage", "--json"][..], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let calls = |lines: &[Value]| lines.iter().map(|line| line["calls"].as_u64().expect("a count")).sum::<u64>();
    for by in ["day", "model", "session"] {
        assert_eq!(calls(&lines(&["--by", by])), 6, "{by}");
    }
    let sessions = lines(&["--by", "session"]);
    assert_eq!(sessions.iter().map(|line| line["session"].as_str()).collect::<Vec<_>>(), [Some("one"), Some("two")]);
    assert_eq!((&sessions[0]["cost"], &sessions[0]["tokens_without_price"]), (&json!("0.00"), &json!(0)));
    assert_eq!(lines(&["--since", "2999-01-01"]), Vec::<Value>::new());
    let table = bench.run(&["usage", "--by", "model"]).stdout;
    assert!(table.contains("scripted") && table.contains("$0.00"), "{table}");
}

// proves M7, E2: what programs read ends with the cost of the run; what people read is the same in a pipe as before
#[test]
fn the_last_event_of_a_run_has_its_cost() {
    let bench = bench_with("[models.scripted]\nprice_input = 1\nprice_output = 1\n");
    let ran = bench.run(&["run", "go", "--json"]);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!((ran.code, last["kind"].as_str()), (0, Some("RunEnded")), "{}", ran.stderr);
    assert!(last["body"]["cost"].as_i64() > Some(0), "{last}");
    let piped = bench.run(&["run", "go"]);
    assert_eq!((piped.code, piped.stdout.as_str()), (0, "All done.\n"));
    assert!(!piped.stderr.contains("model call"), "{}", piped.stderr);
}

// proves M7, T8
#[cfg(target_os = "linux")]
#[test]
fn a_person_at_a_terminal_is_asked_whether_to_raise_the_limit() {
    for (typed, code, answer) in [("y\n", 0, "All done.\n"), ("900,000\n", 0, "All done.\n"), ("n\n", 3, "")] {
        let bench = Bench::new(Script::of([ScriptStep::say("All done.")]));
        let terminal = [("TERM", "xterm")];
        let line = ["run", "go", "--max-run-tokens", "9"];
        let mut person = crate::support::person::Attended::start(&bench, &line, &terminal);
        let question = person.question().expect("a question");
        assert!(question.contains("run_token_limit is 9 tokens") && question.contains("Raise it to"), "{question}");
        assert!(
            question.contains("[y] go on, or type another limit") && question.contains("[n] stop here"),
            "{question}"
        );
        person.type_text(typed);
        let ran = person.finish();
        assert_eq!((ran.code, ran.stdout.as_str()), (code, answer), "{}", ran.stderr);
        let last = if code == 0 { " out, 1 model call, " } else { " --max-run-tokens N" };
        assert!(ran.stderr.contains(last), "{}", ran.stderr);
    }
}
