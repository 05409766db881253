//! Every view of a call marks a failed command as failed.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

// proves T5, T11
#[test]
fn a_failed_command_shows_a_cross_and_its_exit_code_in_the_run_the_journal_and_the_audit() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "true"})),
        ScriptStep::call("run_command", json!({"command": "echo red; exit 101"})),
        ScriptStep::call("run_command", json!({"command": "kill -9 $$"})),
        ScriptStep::say("Done."),
    ]));
    let ran = bench.run(&["run", "go", "--session", "s", "--allow", "run_command(*)"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let replayed = bench.run(&["replay", "s"]);
    for progress in [&ran.stderr, &replayed.stderr] {
        let lines: Vec<&str> = progress.lines().filter(|line| line.starts_with("run_command ")).collect();
        assert!(!lines[0].contains("exit"), "{progress}");
        assert!(lines[1].ends_with(", exit code 101: red"), "{progress}");
        assert!(lines[2].ends_with(", killed by signal 9"), "{progress}");
    }
    let shown = bench.run(&["sessions", "show", "s"]).stdout;
    let finished: Vec<&str> = shown.lines().filter(|line| line.contains("CallFinished")).collect();
    assert!(finished[0].contains("result of ") && !finished[0].contains('✗'), "{shown}");
    assert!(finished[1].contains(" ✗ ") && finished[1].contains(", exit code 101): red"), "{shown}");
    assert!(finished[2].contains(" ✗ ") && finished[2].contains(", killed by signal 9): "), "{shown}");

    let audited = bench.run(&["audit"]).stdout;
    let lines: Vec<&str> = audited.lines().collect();
    assert!(lines[0].contains("  ok, ") && !lines[0].contains('✗'), "{audited}");
    assert!(lines[1].contains("  ✗ exit code 101, "), "{audited}");
    assert!(lines[2].contains("  ✗ killed by signal 9, "), "{audited}");
    let told = bench.run(&["audit", "--json"]).stdout;
    let exits: Vec<Value> =
        told.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["exit"].clone()).collect();
    assert_eq!(exits, [json!({"code": 0}), json!({"code": 101}), json!({"signal": 9})]);
}
