//! Windlass's own MCP client, as run by the protocol's conformance suite.
//!
//! The suite acts as a server and checks what the client sends. The environment names the scenario, but a correct
//! client needs little of that: all tools of the server are listed and called, its questions are answered, and its
//! logins are agreed to. So all scenarios run the same code ([`play`]); settings that the suite supplies on behalf of
//! a user are passed as a user would configure them. Everything else is the client's own behaviour.

mod browser;
mod form;
pub mod person;
mod scenario;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use windlass_mcp::{McpOptions, ServerName, Servers};
use windlass_tools::{Tool, ToolServers as _};
use windlass_vocab::OutcomeKind;

use crate::scenario::Scenario;

/// The argument that makes the program a guard.
pub const GUARD: &str = "guard";
/// The program's name in its error messages.
pub const NAME: &str = "windlass-conformance";

/// Runs the scenario that the environment names, with the server at `url`.
#[tokio::main(flavor = "current_thread")]
pub async fn play(url: &str) -> Result<()> {
    ensure!(url.starts_with("http"), "the last word must be the address of the suite's server, not `{url}`");
    let scenario = Scenario::from_environment()?;
    let name: ServerName = "suite".parse()?;
    let options = McpOptions {
        log_in: Some(Arc::new(|_, address| browser::agree(address))),
        notice: Arc::new(|notice| eprintln!("{notice}")),
        ..McpOptions::default()
    };
    let servers = Servers::new(BTreeMap::from([(name.clone(), scenario.server(url))]), options);
    let played = match servers.connect(&name).await {
        Ok(_) => call_all(&scenario, &servers.tools()).await,
        Err(error) => Err(error.into()),
    };
    servers.shutdown().await;
    played
}

/// Makes the calls of the scenario, or else calls every tool.
async fn call_all(scenario: &Scenario, tools: &[Arc<dyn Tool>]) -> Result<()> {
    let mut failures = Vec::new();
    for (tool, arguments) in scenario.calls(tools).context("the scenario's calls can't be made")? {
        let outcome = person::call(tool.as_ref(), &arguments).await.outcome;
        if outcome.kind != OutcomeKind::Ok {
            failures.push(format!("{}: {}", tool.spec().name, outcome.text));
        }
    }
    if failures.is_empty() { Ok(()) } else { bail!("{}", failures.join("; ")) }
}
