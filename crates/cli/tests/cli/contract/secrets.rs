//! The API key is sent in one header and appears nowhere else (X1).

use std::path::Path;

use serde_json::json;
use windlass_testkit::{FaultKind, Script, ScriptStep};

use crate::support::{Bench, Ran};

const KEY: &str = "sk-test-4f8a91c2d7e6b35a";
const SHOWN: &str = "⟦secret:API_KEY⟧";

fn run(bench: &Bench, arguments: &[&str]) -> Ran {
    bench.run_with(arguments, &[("OPENAI_API_KEY", KEY)])
}

/// Returns every file below `folder` that contains the key.
fn files_with_the_key(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    // The folder does not exist if the command was refused before it started anything.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with_the_key(&path));
        } else if std::fs::read(&path).expect("read").windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn assert_unseen(bench: &Bench, ran: &Ran) {
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{}{}", ran.stdout, ran.stderr);
    for request in bench.server.requests() {
        assert!(!request.body.to_string().contains(KEY), "request {}: {}", request.n, request.body);
        let carriers = request.headers.iter().filter(|(_, value)| value.contains(KEY));
        assert_eq!(carriers.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["authorization"]);
        assert!(request.headers.contains(&("authorization".into(), format!("Bearer {KEY}"))));
    }
    assert_eq!(files_with_the_key(&bench.data()), Vec::<String>::new());
}

// proves X1: names are recorded unchanged, so a name must not contain the key
#[test]
fn a_name_with_the_key_in_it_is_refused() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    for flag in ["--session", "--message-id"] {
        let ran = run(&bench, &["run", "go", flag, &format!("of {KEY}")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("{flag} contains a secret")), "{}", ran.stderr);
        assert_unseen(&bench, &ran);
    }
    assert_eq!((bench.server.count(), bench.keys().len()), (0, 0));
}

// proves X1
#[test]
fn the_key_is_seen_in_its_header_alone() {
    let steps = [
        ScriptStep::call("read_file", json!({"path": "leak.txt"})),
        ScriptStep::call(
            "run_command",
            json!({"command": "cat leak.txt; env; echo ${OPENAI_API_KEY-none}; base64 leak.txt"}),
        ),
        ScriptStep::call("search_files", json!({"pattern": "sk-"})).and_call("list_directory", json!({"path": KEY})),
        ScriptStep { thinking: format!("{KEY}?"), ..ScriptStep::say(format!("It is {KEY}, I think.")) },
    ];
    for json in [&[][..], &["--json"]] {
        let bench = Bench::new(Script::of(steps.clone()));
        std::fs::write(bench.workspace().join("leak.txt"), format!("key = {KEY}\n")).expect("written");
        std::fs::write(bench.workspace().join("AGENTS.md"), format!("Use {KEY}.\n")).expect("written");
        let prompt = format!("is {KEY} mine?");
        let ran = run(&bench, &[&["run", &prompt, "--session", "s", "--mode", "bypass"], json].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(&format!("It is {SHOWN}, I think.")), "{}", ran.stdout);
        assert_unseen(&bench, &ran);
        assert_eq!(bench.last_request("user"), [format!("is {SHOWN} mine?")]);
        assert!(bench.last_request("system").concat().contains(&format!("Use {SHOWN}.")));
        let results = bench.last_request("tool");
        assert!(results[0].contains(&format!("key = {SHOWN}")), "{}", results[0]);
        assert!(results[1].contains("none") && !results[1].contains("OPENAI_API_KEY="), "{}", results[1]);
        for look in ["show", "export"] {
            assert!(!bench.run(&["sessions", look, "s"]).stdout.contains(KEY));
        }
        bench.assert_whole("secrets");
    }
}

// proves X1: a key that a server quotes in its error is replaced
#[test]
fn a_key_that_a_server_quotes_is_not_shown() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}}).to_string();
    let fault = FaultKind::Status { code: 401, body: Some(body), retry_after: None };
    let bench = Bench::new(Script::of([ScriptStep::say("").fault(fault)]));
    let ran = run(&bench, &["run", "go"]);
    assert!(ran.code == 1 && ran.stderr.contains("refused the key (401)"), "{}", ran.stderr);
    assert_unseen(&bench, &ran);
}

// proves X1: the placeholder is not the secret, so it must not be written in its place
#[test]
fn a_placeholder_is_not_written_to_a_file() {
    let write = ScriptStep::call("write_file", json!({"path": "env", "content": format!("KEY={SHOWN}")}));
    let bench = Bench::new(Script::of([write, ScriptStep::say("It can't be written.")]));
    let ran = run(&bench, &["run", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(bench.read("env"), None, "{}", bench.last_request("tool").concat());
}
