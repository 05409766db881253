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
    for words in ["the budget is spent", "run_token_limit is 1 tokens", "windlass retry", "--max-run-tokens"] {
        assert!(stopped.stderr.contains(words), "{words}: {}", stopped.stderr);
    }
    assert_eq!(bench.server.requests().len(), 0, "no model was called");
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
        (&["run", "go", "--max-run-tokens", "0"], "--max-run-tokens"),
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
fn usage_adds_up_the_calls_of_all_sessions_and_says_where_no_price_is_known() {
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
    assert!(sessions[0]["cost"].is_null() && sessions[0]["tokens_without_price"].as_u64() > Some(0), "{sessions:?}");
    assert_eq!(lines(&["--since", "2999-01-01"]), Vec::<Value>::new());
    let table = bench.run(&["usage", "--by", "model"]).stdout;
    assert!(table.contains("scripted") && table.contains("price unknown"), "{table}");
}

// proves M7, T8
#[cfg(target_os = "linux")]
#[test]
fn a_person_at_a_terminal_is_asked_whether_to_raise_the_limit() {
    for (typed, code, answer) in [("y\n", 0, "All done.\n"), ("n\n", 3, "")] {
        let bench = Bench::new(Script::of([ScriptStep::say("All done.")]));
        let mut person = crate::support::person::Attended::start(&bench, &["run", "go", "--max-run-tokens", "9"], &[]);
        let question = person.question().expect("a question");
        assert!(question.contains("run_token_limit is 9 tokens") && question.contains("Raise it to"), "{question}");
        assert!(question.contains("[y] go on") && question.contains("[n] stop here"), "{question}");
        person.type_text(typed);
        let ran = person.finish();
        assert_eq!((ran.code, ran.stdout.as_str()), (code, answer), "{}", ran.stderr);
    }
}
