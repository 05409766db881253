//! A stand-in for `mcp-server-time` that always returns the same time, to try the example `mcp` without it:
//! `cargo run -p windlass --example mcp target/debug/examples/time_server`.

use std::process::ExitCode;

use windlass_testkit::mcp::{FakeTool, McpScript, ToolAction, run_mcp_fake};

fn main() -> ExitCode {
    let noon = serde_json::json!({"content": [{"type": "text", "text": "12:00"}]});
    run_mcp_fake(&McpScript { tools: vec![FakeTool::new("now", ToolAction::Result(noon))], ..McpScript::default() })
}
