//! Windlass's own MCP client, as the protocol's conformance suite runs it.
//!
//! The suite plays a server and watches what comes. It says which scenario it is in the environment,
//! but a client that behaves needs to know little of that: whatever the server has is listed and
//! called, whatever it asks is answered, and where it wants a login somebody agrees. So there is one
//! course of events for all scenarios ([`play`]), and what the suite gives as a user would configure it
//! is put where a user would put it. Everything else is the client's.

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

/// The word that makes the program a guard.
pub const GUARD: &str = "guard";
/// What the program calls itself when it says why it failed.
pub const NAME: &str = "windlass-conformance";

/// Plays the scenario that the environment names, with the server at `url`.
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

/// Calls what the scenario wants called, else everything.
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
