//! Configurations of fake MCP servers for the figures.

use std::collections::BTreeMap;

use anyhow::Result;
use windlass::GUARD_ARGUMENT;
use windlass_mcp::{McpOptions, ServerConfig, ServerName, ServerTransport};
use windlass_testkit::mcp::McpScript;
use windlass_tools::GuardProgram;

use crate::figures::setup::Setup;

/// Configures servers that play these scripts, by name.
pub fn configured(
    setup: &Setup,
    scripts: impl IntoIterator<Item = (String, McpScript)>,
) -> Result<BTreeMap<ServerName, ServerConfig>> {
    let server = |(name, script): (String, McpScript)| {
        let reach = ServerTransport::Stdio {
            command: setup.programs.mcp_fake.display().to_string(),
            args: vec![script.to_json()],
            env: BTreeMap::new(),
            cwd: None,
        };
        Ok((name.parse()?, ServerConfig::new(reach)))
    };
    scripts.into_iter().map(server).collect()
}

/// The options of these servers: the guard is Windlass itself, as in production, and no tool list is remembered.
#[must_use]
pub fn options(setup: &Setup) -> McpOptions {
    let guard = GuardProgram { program: setup.programs.windlass.clone(), args: vec![GUARD_ARGUMENT.to_owned()] };
    McpOptions { guard: Some(guard), ..McpOptions::default() }
}
