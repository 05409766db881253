//! Waiting messages: they are listed, no process starts and then abandons one, and a later command answers them.

use serde_json::json;
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep};

use crate::support::Bench;

const FIRST: [&str; 8] = ["run", "first", "--session", "s", "--message-id", "a", "--preset", "operator"];
const SECOND: [&str; 8] = ["run", "second", "--session", "s", "--message-id", "b", "--preset", "operator"];
const HINT: &str = "1 message waits to be taken up: `windlass resume s --data-dir ";

fn script(first: impl IntoIterator<Item = ScriptStep>) -> Script {
    Script::when("first", first).scene(Scene::when("second", [ScriptStep::say("Two.")]))
}

/// Starts the run of the first message, which never gets its reply, then sends the second; kills both processes.
fn cut_both_short(bench: &Bench) {
    for (count, line) in [FIRST, SECOND].into_iter().enumerate() {
        let mut child = bench.spawn(&line);
        bench.wait_for_requests(count + 1, &mut child);
        while line == SECOND && !bench.run(&["sessions", "show", "s"]).stdout.contains("  waits  ") {
            assert!(child.try_wait().expect("waited").is_none(), "the process ended before the message was there");
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
    }
}

// proves J1, L7: a message that waits behind a run that waits for a person
#[test]
fn a_message_behind_a_question_is_shown_and_answered_after_it() {
    let command = json!({"command": "touch started; sleep 300"});
    let bench = Bench::new(script([ScriptStep::call("run_command", command), ScriptStep::say("One.")]));
    let mut child = bench.spawn(&[&FIRST[..], &["--mode", "bypass"]].concat());
    bench.wait_for_file("started", &mut child);
    child.kill().expect("killed");
    child.wait().expect("gone");
    let queued = bench.run(&SECOND);
    assert_eq!((queued.code, queued.stdout.as_str()), (6, ""), "{}", queued.stderr);
    assert!(queued.stderr.contains(HINT), "{}", queued.stderr);
    let listed = bench.run(&["sessions", "list"]).stdout;
    assert!(listed.contains("waiting") && listed.contains(&format!("  ({HINT}")), "{listed}");
    let shown = bench.run(&["sessions", "show", "s"]).stdout;
    assert!(shown.trim_end().ends_with("  waits             second"), "{shown}");
    let resumed = bench.run(&["resume", "s", "--answer", "interrupt"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "One.\nTwo.\n"), "{}", resumed.stderr);
    assert_eq!((bench.records("s", "RunEnded"), bench.records("s", "RunStarted")), (2, 2));
    assert!(!bench.run(&["sessions", "list"]).stdout.contains("waits"));
    bench.assert_whole("both answered");
}

// proves J1, L7, J6: `run` answers its own message and leaves later ones to the command that continues the session
#[test]
fn a_line_leaves_what_waits_behind_its_message_and_says_so() {
    let late = FaultKind::Delay { ms: 120_000 }.times(2);
    let bench = Bench::new(script([ScriptStep::say("One.").fault(late)]));
    cut_both_short(&bench);
    let first = bench.run(&FIRST);
    assert_eq!((first.code, first.stdout.as_str()), (0, "One.\n"), "{}", first.stderr);
    assert!(first.stderr.contains(HINT), "{}", first.stderr);
    assert_eq!(bench.records("s", "RunStarted"), 1, "nothing is begun that nobody would follow");
    let listed = bench.run(&["sessions", "list"]).stdout;
    assert!(listed.contains("idle") && listed.contains(&format!("  ({HINT}")), "{listed}");
    let resumed = bench.run(&["resume", "s"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Two.\n"), "{}", resumed.stderr);
    let second = bench.run(&SECOND);
    assert_eq!((second.code, second.stdout.as_str()), (0, "Two.\n"), "{}", second.stderr);
    bench.assert_whole("both answered");
}

// proves J6, L7: a retry runs before waiting messages
#[test]
fn a_retry_comes_before_what_waits_and_both_are_answered() {
    let late = FaultKind::Delay { ms: 120_000 }.times(2);
    let bench = Bench::new(script([ScriptStep::say("One.").fault(late).fault(FaultKind::status(401))]));
    cut_both_short(&bench);
    let failed = bench.run(&FIRST);
    assert_eq!((failed.code, failed.stdout.as_str()), (1, ""), "{}", failed.stderr);
    let retried = bench.run(&["retry", "s", "--preset", "operator"]);
    assert_eq!((retried.code, retried.stdout.as_str()), (0, "One.\nTwo.\n"), "{}", retried.stderr);
    bench.assert_whole("tried again");
}
