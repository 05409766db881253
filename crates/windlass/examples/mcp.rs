//! Tools of an MCP server: the time, from `uvx mcp-server-time` unless another command is given.
//!
//! The server is a child process. A guard process ends it even if this program is killed, and `init` lets this program
//! serve as that guard.

use std::process::ExitCode;

use windlass::Builder;

fn main() -> anyhow::Result<ExitCode> {
    if let Some(code) = windlass::init() {
        return Ok(code);
    }
    let mut given: Vec<String> = std::env::args().skip(1).collect();
    if given.is_empty() {
        given = vec!["uvx".to_owned(), "mcp-server-time".to_owned()];
    }
    let command = given.remove(0);
    tokio::runtime::Runtime::new()?.block_on(async {
        let agent = Builder::from_env()?.mcp_server("time", command, given).allow("time.*").build()?;
        println!("{}", agent.run("What time is it in Lisbon?").await?);
        Ok(ExitCode::SUCCESS)
    })
}
