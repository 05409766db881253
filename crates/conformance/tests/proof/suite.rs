//! The conformance suite for clients: every scored scenario of both revisions of the protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;
use windlass_testkit::node;

use crate::room::npm;

/// How long the suite waits for a client, and the test for the suite.
const SCENARIO_MS: &str = "90000";
const SUITE: Duration = Duration::from_secs(200);

/// Not scored, because it is newer than the sets of required scenarios; the official Rust client fails it.
const BEYOND: &str = "json-schema-2020-12-preservation";

/// Scenarios in which the client must refuse what the server does.
const REFUSED: &[&str] = &[
    "auth/iss-normalized",
    "auth/iss-supported-missing",
    "auth/iss-unexpected",
    "auth/iss-wrong-issuer",
    "auth/metadata-issuer-mismatch",
    "auth/resource-mismatch",
    "auth/scope-retry-limit",
];

/// The result of a scenario.
struct Result {
    passed: usize,
    problems: Vec<String>,
    said: String,
}

// proves P1, P4
#[tokio::test]
async fn every_scored_scenario_of_2025_11_25_passes_and_prints_how_many() {
    check("2025-11-25", 18).await;
}

// proves P1, P4
#[tokio::test]
async fn every_scored_scenario_of_2026_07_28_passes_and_prints_how_many() {
    check("2026-07-28", 32).await;
}

async fn check(revision: &str, count: usize) {
    let Some(npm) = npm() else { return };
    let suite = npm.join("node_modules/@modelcontextprotocol/conformance");
    let scored = scored(&std::fs::read_to_string(suite.join(format!("requirements/{revision}.yaml"))).unwrap());
    assert_eq!(scored.len(), count, "the suite scores other scenarios than it did: {scored:?}");
    let out = tempfile::tempdir().unwrap();
    let said = run(&node(&npm), &suite, revision, out.path()).await;
    let results = results(out.path());
    let wrong: Vec<String> = scored
        .iter()
        .map(String::as_str)
        .chain([BEYOND])
        .filter_map(|name| wrong(name, results.get(name)).map(|wrong| format!("{name}: {wrong}")))
        .collect();
    assert!(wrong.is_empty(), "{} scenarios failed:\n{}\n\nThe suite said:\n{said}", wrong.len(), wrong.join("\n"));
    let checks: usize = results.values().map(|result| result.passed).sum();
    println!("conformance {revision}: {count} of {count} scored scenarios, and {BEYOND}; {checks} checks passed");
}

/// Returns the scored scenarios for clients: the list under `client`.
fn scored(requirements: &str) -> BTreeSet<String> {
    let list = requirements.lines().skip_while(|line| *line != "client:").skip(1);
    list.map_while(|line| line.strip_prefix("  - ")).map(str::to_owned).collect()
}

/// Runs all scenarios of the suite in parallel and returns its output.
async fn run(node: &Path, suite: &Path, revision: &str, out: &Path) -> String {
    let mut command = Command::new(node);
    command.arg(suite.join("dist/index.js")).args(["client", "--requirements", revision, "--timeout", SCENARIO_MS]);
    command.args(["--command", env!("CARGO_BIN_EXE_windlass-conformance"), "--output-dir"]).arg(out).current_dir(out);
    let ended = tokio::time::timeout(SUITE, command.kill_on_drop(true).output()).await;
    let output = ended.expect("the suite did not end in time").expect("the suite can't be started: it needs Node 22");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Returns the results by scenario: each has a folder whose name ends with a timestamp.
fn results(out: &Path) -> BTreeMap<String, Result> {
    const WHEN: usize = "-2026-01-01T00-00-00-000Z".len();
    let mut found = BTreeMap::new();
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        if let Ok(checks) = std::fs::read(folder.join("checks.json")) {
            let name = folder.strip_prefix(out).unwrap().to_str().unwrap();
            let said = std::fs::read_to_string(folder.join("stderr.txt")).unwrap_or_default();
            found.insert(name[..name.len() - WHEN].to_owned(), result(&serde_json::from_slice(&checks).unwrap(), said));
            continue;
        }
        folders.extend(std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    found
}

fn result(checks: &Value, said: String) -> Result {
    let (mut passed, mut problems) = (0, Vec::new());
    for check in checks.as_array().unwrap() {
        match check["status"].as_str().unwrap() {
            "SUCCESS" => passed += 1,
            "INFO" | "SKIPPED" => {}
            status => problems.push(format!("{status} {}: {}", check["id"], told(check))),
        }
    }
    Result { passed, problems, said }
}

fn told(check: &Value) -> &str {
    check["errorMessage"].as_str().or(check["description"].as_str()).unwrap_or_default()
}

/// Returns what is wrong with a scenario's result. A warning counts: the protocol says SHOULD there.
fn wrong(name: &str, result: Option<&Result>) -> Option<String> {
    let Some(Result { passed, problems, said }) = result else {
        return Some("it has no result".into());
    };
    let failed = said.lines().any(|line| line.starts_with(windlass_conformance::NAME));
    if !problems.is_empty() || *passed == 0 {
        Some(format!("{} (the client said: {said})", problems.join("; ")))
    } else if failed != REFUSED.contains(&name) {
        Some(format!("the client went along where it must not, or failed where it need not: {said}"))
    } else {
        None
    }
}

#[test]
fn a_scenario_passes_only_if_something_was_checked_and_nothing_was_found() {
    let of = |statuses: &[&str], said: &str| {
        let checks = statuses.iter().map(|status| serde_json::json!({"id": "x", "status": status})).collect();
        wrong("tools_call", Some(&result(&checks, said.to_owned())))
    };
    assert_eq!(of(&["SUCCESS", "INFO", "SKIPPED"], "a note\n"), None);
    for (statuses, said) in [
        (&["INFO"][..], ""),
        (&["SUCCESS", "FAILURE"], ""),
        (&["SUCCESS", "WARNING"], ""),
        (&["SUCCESS"], "windlass-conformance: it failed"),
    ] {
        assert!(of(statuses, said).is_some(), "{statuses:?} {said}");
    }
    assert!(wrong("tools_call", None).is_some());
    assert!(
        wrong(
            "auth/iss-unexpected",
            Some(&result(&serde_json::json!([{"id": "x", "status": "SUCCESS"}]), String::new()))
        )
        .is_some()
    );
}

#[test]
fn only_the_clients_list_is_scored() {
    let requirements = "server:\n  - a\n\nclient:\n  - b\n  - auth/c\n\nnot_scored:\n  - scenario: d\n";
    assert_eq!(scored(requirements), ["auth/c".to_owned(), "b".to_owned()].into());
}
