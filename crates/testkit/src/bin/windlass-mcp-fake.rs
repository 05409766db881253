//! `windlass-mcp-fake`: a fake MCP server over standard input and output that follows a script.

use std::process::ExitCode;

use windlass_testkit::mcp::{McpScript, run_mcp_fake};

const USAGE: &str = "usage: windlass-mcp-fake SCRIPT
  SCRIPT is the script as JSON, or the path of a file with it; `{}` is a well-behaved server without tools";

fn main() -> ExitCode {
    let Some(script) = std::env::args().nth(1) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let text = if script.trim_start().starts_with('{') { Ok(script) } else { std::fs::read_to_string(&script) };
    match text.map_err(|error| error.to_string()).and_then(|text| McpScript::parse(&text).map_err(|e| e.to_string())) {
        Ok(script) => run_mcp_fake(&script),
        Err(what) => {
            eprintln!("windlass-mcp-fake: {what}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
