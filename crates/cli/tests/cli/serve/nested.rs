//! MCP servers of the served agent itself, one of which is another `windlass mcp-serve`.

use std::path::PathBuf;

use serde_json::json;
use windlass_testkit::{Scene, Script, ScriptStep};

use super::client::{Client, text};
use crate::support::Bench;

/// Writes the settings of the inner server, which counts its starts and has its own data folder.
fn config(bench: &Bench) -> PathBuf {
    let (program, data) = (env!("CARGO_BIN_EXE_windlass"), bench.dir.path().join("inner"));
    let line = format!(
        "echo started >> starts; exec {program} mcp-serve --model scripted --base-url {} --data-dir {}",
        bench.server.base_url(),
        data.display()
    );
    let file = bench.dir.path().join("mcp.json");
    let servers = json!({"mcpServers": {"inner": {"command": "sh", "args": ["-c", line]}}});
    std::fs::write(&file, servers.to_string()).expect("written");
    file
}

// proves P5, P2: our client works with our server, and a server keeps running between requests
#[test]
fn an_agent_asks_another_and_keeps_it_at_hand() {
    let call = || ScriptStep::call("inner.ask", json!({"prompt": "inner work", "session": "deep"}));
    let bench = Bench::new(
        Script::when("outer", [call(), ScriptStep::say("Asked.")])
            .scene(Scene::when("inner work", [ScriptStep::say("Deep answer.")])),
    );
    let config = config(&bench);
    let config = config.display().to_string();
    let mut client = Client::shaken(&bench, &["--mcp-config", &config, "--allow", "inner.*"], json!({}));
    for key in ["a", "b"] {
        let result = client.call("ask", json!({"prompt": "outer", "session": key}));
        assert_eq!(text(&result), "Asked.", "{result}");
        assert!(bench.last_request("tool").join("\n").contains("Deep answer."), "{key}");
    }
    assert_eq!(bench.read("starts").as_deref(), Some("started\n"), "one server for both");
    assert_eq!(client.hang_up().0, Some(0));
    bench.assert_nothing_survives("hung up");
    bench.assert_whole("nested");
}
