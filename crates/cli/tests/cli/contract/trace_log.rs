//! `--log` and `WINDLASS_LOG` record actions and their durations, and no content (0020).

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use windlass_testkit::mcp::{McpHttpServer, McpScript};
use windlass_testkit::{FaultKind, Script, ScriptStep};

use crate::support::Bench;

const KEY: &str = "sk-test-4f8a91c2d7e6b35a";

/// Content that must not be logged: of the prompt, the arguments, the file, the answer; and the key.
const WORDS: [&str; 5] = ["marlinspike", "bowsprit", "halyard", "taffrail", KEY];

fn bench() -> Bench {
    let steps = [ScriptStep::call("read_file", json!({"path": "bowsprit"})), ScriptStep::say("taffrail")];
    let bench = Bench::new(Script::of(steps.clone().into_iter().chain(steps)));
    std::fs::write(bench.workspace().join("bowsprit"), "halyard").expect("written");
    bench
}

// proves X1
#[test]
fn a_log_tells_what_was_done_and_not_a_word_of_what_was_said() {
    let bench = bench();
    let log = bench.dir.path().join("log");
    let path = log.to_str().expect("a path");
    let prompt = format!("marlinspike {KEY}");
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let ran = bench.run_with(arguments, &[&[("OPENAI_API_KEY", KEY)], variables].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "taffrail\n"), "{}", ran.stderr);
        std::fs::read_to_string(&log).expect("a log")
    };
    let first = run(&["run", &prompt, "--log", path], &[]);
    for part in [
        " INFO session id=",
        " > run run=",
        " end=completed",
        " > turn turn=1: took_ms=",
        " > attempt model=scripted attempt=1",
        " outcome=ok",
        " DEBUG session id=",
        ": first byte",
        " > call call=",
        " tool=local.read_file outcome=ok: took_ms=",
        "append session=",
        " records=",
    ] {
        assert!(first.contains(part), "{part} is not in:\n{first}");
    }
    for word in WORDS {
        assert!(!first.contains(word), "{word} is in:\n{first}");
    }
    assert_eq!(std::fs::metadata(&log).expect("a log").permissions().mode() & 0o777, 0o600);
    let both = run(&["run", "marlinspike"], &[("WINDLASS_LOG", path)]);
    assert!(both.starts_with(&first) && both.matches(" end=completed").count() == 2, "it is added to:\n{both}");
}

#[test]
fn a_failed_attempt_is_told_by_its_class_and_status() {
    let refusal = FaultKind::Status { code: 401, body: Some("marlinspike".into()), retry_after: None };
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.").fault(refusal)]));
    let ran = bench.run(&["run", "go", "--log", "log"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let log = bench.read("log").expect("a log");
    assert!(log.contains(" outcome=auth status=401: took_ms=") && log.contains(" end=failed"), "{log}");
    assert!(!log.contains("marlinspike"), "{log}");
}

#[test]
fn a_server_that_is_connected_is_told_by_its_name() {
    let (bench, server) = (bench(), McpHttpServer::start(McpScript::echo()).expect("a server"));
    let config = json!({"mcpServers": {"hub": {"url": server.url()}}}).to_string();
    std::fs::write(bench.workspace().join("servers.json"), config).expect("written");
    // However slow the machine is, the run waits for the server.
    let folder = bench.dir.path().join(".config/windlass");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("windlass.toml"), "[policy]\nserver_wait_ms = 3000000\n").expect("written");
    let ran = bench.run(&["run", "go", "--mcp-config", "servers.json", "--log", "log"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let log = bench.read("log").expect("a log");
    assert!(log.contains("connect server=hub outcome=ok tools="), "{log}");
    assert!(!log.contains(&server.url()), "what the libraries below us trace is left out: {log}");
}

// proves W2: the error comes before anything runs
#[test]
fn a_log_that_cannot_be_written_is_wrong_use() {
    let bench = bench();
    let pipe = bench.workspace().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    for (arguments, variables, named) in [
        (&["run", "go", "--log", "none/log"][..], &[][..], "--log: the log none/log can't be written"),
        (&["run", "go", "--log", "pipe"], &[], "--log: the log pipe can't be written: it is a pipe"),
        (&["sessions", "list"], &[("WINDLASS_LOG", ".")], "WINDLASS_LOG: the log . can't be written"),
    ] {
        let ran = bench.run_with(arguments, variables);
        assert!(ran.code == 2 && ran.stdout.is_empty() && ran.stderr.contains(named), "{} {}", ran.code, ran.stderr);
    }
    assert_eq!(bench.server.count(), 0);
}

// proves W2: a log on a full disk is told once, and the work goes on
#[test]
#[cfg(target_os = "linux")]
fn a_log_on_a_full_disk_is_told_once() {
    let ran = bench().run(&["run", "go", "--log", "/dev/full"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("windlass: the log can't be written").count(), 1, "{}", ran.stderr);
}
