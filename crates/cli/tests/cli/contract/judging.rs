//! The judge and the guards of `local-model` at the command line: what a run may change, how it ends, and what it says of
//! itself.

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

fn bench(steps: impl IntoIterator<Item = ScriptStep>) -> Bench {
    let bench = Bench::new(Script::of(steps.into_iter().collect::<Vec<_>>()));
    std::fs::write(bench.workspace().join("prices.txt"), "apples 2\n").expect("written");
    bench
}

fn write(content: &str) -> ScriptStep {
    ScriptStep::call("write_file", json!({"path": "prices.txt", "content": content}))
}

// proves X4: a question is answered, not acted on
#[test]
fn a_question_changes_no_file_where_nobody_can_agree() {
    for (preset, left) in [("local-model", "apples 2\n"), ("default", "apples 3\n")] {
        let bench = bench([write("apples 3\n"), ScriptStep::say("Apples cost 2, by prices.txt; nothing was changed.")]);
        let ran = bench.run(&["run", "What do apples cost, by prices.txt?", "--preset", preset]);
        assert_eq!(bench.read("prices.txt").as_deref(), Some(left), "{preset}: {}", ran.stderr);
        let told = bench.last_request("tool").pop().expect("a result");
        assert_eq!(
            told.contains("the request is a question; answer it, change nothing"),
            preset == "local-model",
            "{told}"
        );
    }
}

// proves X4: what the request does not name is not emptied
#[test]
fn a_file_that_was_not_named_is_not_emptied_where_nobody_can_agree() {
    for (request, left) in [("Clean up this folder.", "apples 2\n"), ("Empty the file prices.txt.", "")] {
        let bench = bench([write(""), ScriptStep::say("I could not do more: it is not allowed.")]);
        let ran = bench.run(&["run", request, "--preset", "local-model"]);
        assert_eq!(bench.read("prices.txt").as_deref(), Some(left), "{request}: {}", ran.stderr);
    }
}

// proves S1, S2, L3: an answer without work is sent back, and the run says what is true
#[test]
fn a_claim_without_work_ends_unfinished_and_is_contradicted() {
    let bench = bench([ScriptStep::say("I have renamed prices.txt.")]);
    let ran = bench.run(&["run", "Rename prices.txt to costs.txt.", "--preset", "local-model", "--session", "s"]);
    assert_ne!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("No file was changed, although the answer says so."), "{}", ran.stderr);
    assert!(!ran.stdout.contains("No file was changed"), "{}", ran.stdout);
    let shown = bench.run(&["sessions", "show", "s"]).stdout;
    assert_eq!(shown.matches("Nudged").count(), 3, "{shown}");
}
