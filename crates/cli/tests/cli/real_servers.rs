//! `windlass run` with real third-party servers from a project's file: one that works, one that is dead and one that
//! hangs.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_testkit::{Packages, Script, ScriptStep, node};

use crate::support::Bench;

/// Server settings. The hanging server may take longer to start than any test runs.
fn config(npm: &Path) -> Value {
    let modules = npm.join("node_modules");
    json!({"mcpServers": {
        "everything": {"command": node(npm), "args": [modules.join(".bin/mcp-server-everything")]},
        "dead": {"command": "sh", "args": ["-c", "echo no more >&2; exit 3"]},
        "hanging": {"command": "sleep", "args": ["600"], "startupTimeout": 590_000},
    }})
}

fn offered(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["function"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

// proves P1, P2 on the binary
#[test]
fn a_run_uses_the_server_that_works_and_waits_neither_for_the_dead_nor_for_the_hanging() {
    let Some(npm) = Packages::Npm.folder(env!("CARGO_TARGET_TMPDIR")) else { return };
    let echo = || ScriptStep::call("everything__echo", json!({"message": "heave"}));
    let bench = Bench::new(Script::of([echo(), ScriptStep::say("It said heave.")]));
    let file = bench.dir.path().join("servers.json");
    std::fs::write(&file, config(&npm).to_string()).expect("written");
    let file = file.display().to_string();
    let begun = Instant::now();
    for session in ["first", "second"] {
        let words = ["run", "say heave", "--session", session, "--mcp-config", &file, "--allow", "everything.echo"];
        let ran = bench.run(&words);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "It said heave.\n"), "{session}: {}", ran.stderr);
        assert_eq!(bench.last_request("tool"), ["Echo: heave"], "{session}: {}", ran.stderr);
        assert!(ran.stderr.contains("`dead` is not available") && ran.stderr.contains("no more"), "{}", ran.stderr);
        bench.assert_nothing_survives(session);
    }
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    // In the second run the tools are known before the server has started.
    let requests = bench.server.requests();
    let (first, second) = (offered(&requests[0].body), offered(&requests[2].body));
    assert!(!first.iter().any(|name| name.starts_with("everything__")), "{first:?}");
    assert!(first.iter().any(|name| name == "wait_for_servers"), "{first:?}");
    assert!(second.iter().any(|name| name == "everything__echo"), "{second:?}");
    bench.assert_whole("real servers");
}
