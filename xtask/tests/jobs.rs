//! `cargo xtask jobs` end to end: the built runner, the built program and a scripted model.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use windlass_testkit::{ModelServer, Scene, Script, ScriptStep, skip};

/// The program, which is built for the tests of its own package. `None` if only this package is tested.
fn windlass() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("windlass");
    if !path.exists() {
        skip("windlass is not built: `cargo build` builds it");
        return None;
    }
    Some(path)
}

/// One job that needs a call, one that is mere talk and whose first reply is empty.
fn server() -> ModelServer {
    let list = "- bread\n- eggs\n- two lemons\n- olive oil\n";
    let write = ScriptStep::call("write_file", json!({"path": "shopping.txt", "content": list})).usage(100, 7);
    let script = Script::when("Add olive oil", [write, ScriptStep::say("It is on the list.").usage(120, 3)])
        .scene(Scene::when("Hello, how", [ScriptStep::say("").usage(50, 1)]))
        .scene(Scene::user(2, [ScriptStep::say("Hello! I am fine.").usage(60, 5)]));
    ModelServer::start(script).unwrap()
}

/// Runs the jobs without a cargo to be found.
fn jobs(server: &ModelServer, out: &Path, words: &[&str]) -> Option<Output> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/jobs");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["jobs", "--base-url", &server.base_url(), "--model", "scripted", "--preset", "default"]);
    command.arg("--windlass").arg(windlass()?).arg("--suite").arg(suite).arg("--out").arg(out).args(words);
    Some(command.env("CARGO", "/none").env("PATH", "/usr/bin:/bin").output().unwrap())
}

fn results(out: &Path) -> Vec<Value> {
    let lines = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
    let mut results: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    results.sort_by_key(|result| result["job"].to_string());
    results
}

#[test]
fn two_jobs_are_done_checked_and_counted() {
    let (server, out) = (server(), tempfile::tempdir().unwrap());
    let words = ["--only", "one-more-to-buy,hello", "--tries", "1", "--parallel", "2", "--replies"];
    let Some(output) = jobs(&server, out.path(), &words) else { return };
    assert!(output.status.success(), "{output:?}");
    let results = results(out.path());
    let figures = |result: &Value| {
        let events = &result["events"];
        let counts = ["calls", "nudges", "turns", "tokens_in", "tokens_out"].map(|name| events[name].as_u64().unwrap());
        (result["job"].clone(), result["complaints"].clone(), counts)
    };
    assert_eq!(figures(&results[0]), (json!("hello"), json!([]), [0, 1, 2, 110, 6]));
    assert_eq!(figures(&results[1]), (json!("one-more-to-buy"), json!([]), [1, 0, 2, 220, 10]));
    assert_eq!(results[1]["events"]["end"], "completed");
    let report = std::fs::read_to_string(out.path().join("report.md")).unwrap();
    assert!(report.contains("| tune | needs tools | 1 of 1 (100 %) | 1–1 of 1 | 1.0 |"), "{report}");
    assert!(report.contains("| talk answered without a call | tune | 1 of 1 (100 %) |"), "{report}");
    let events = std::fs::read_to_string(out.path().join("journals/hello/1/events.jsonl")).unwrap();
    let left = std::fs::read_to_string(out.path().join("journals/one-more-to-buy/1/files/shopping.txt")).unwrap();
    assert!(left.ends_with("- olive oil\n"), "{left}");
    assert!(events.lines().any(|line| line.contains("\"RunEnded\"")), "{events}");
    let replies = std::fs::read_to_string(out.path().join("replies.jsonl")).unwrap();
    let replies: Vec<Value> = replies.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut texts: Vec<&str> = replies.iter().map(|reply| reply["text"].as_str().unwrap()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["", "", "Hello! I am fine.", "It is on the list."]);
    assert!(replies.iter().all(|reply| reply["request"]["messages"].is_array()), "{replies:?}");
}

#[test]
fn a_measurement_is_gone_on_with_only_if_it_is_the_same() {
    let (server, out) = (server(), tempfile::tempdir().unwrap());
    let first = ["--only", "one-more-to-buy", "--tries", "1"];
    let Some(output) = jobs(&server, out.path(), &first) else { return };
    assert!(output.status.success(), "{output:?}");
    let requests = server.count();
    let again = jobs(&server, out.path(), &first).unwrap();
    assert!(String::from_utf8_lossy(&again.stderr).contains("--resume"), "{again:?}");
    let other = jobs(&server, out.path(), &["--resume", "--limit", "7"]).unwrap();
    assert!(String::from_utf8_lossy(&other.stderr).contains("was measured otherwise"), "{other:?}");
    assert_eq!(server.count(), requests);
    let resumed = jobs(&server, out.path(), &["--only", "one-more-to-buy,hello", "--tries", "1", "--resume"]).unwrap();
    assert!(resumed.status.success(), "{resumed:?}");
    // Only the talk was left: an empty reply, and one after the nudge.
    assert_eq!(server.count(), requests + 2);
    assert_eq!(results(out.path()).len(), 2);
}
