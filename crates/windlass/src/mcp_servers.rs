//! MCP servers that the program configures itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_mcp::{ConfigError, McpOptions, ServerConfig, ServerName, ServerTransport, Servers};
use windlass_tools::{GuardProgram, Secrets, ToolServers};

use crate::build_error::BuildError;

/// The agent's settings that its servers need.
pub(crate) struct ServerSurroundings<'a> {
    pub(crate) data_dir: Option<&'a Path>,
    pub(crate) guard: Option<GuardProgram>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) workspace: Option<PathBuf>,
}

/// Returns the configuration of a server that is a child process.
pub(crate) fn program(command: String, args: Vec<String>) -> ServerConfig {
    ServerConfig::new(ServerTransport::Stdio { command, args, env: BTreeMap::new(), cwd: None })
}

/// Prepares these servers for connecting. Remembered facts about them are stored in the data folder, if there is one.
pub(crate) fn servers(
    configs: Vec<(String, ServerConfig)>,
    shared: ServerSurroundings<'_>,
) -> Result<Option<Arc<dyn ToolServers>>, BuildError> {
    if configs.is_empty() {
        return Ok(None);
    }
    let mut named = BTreeMap::new();
    for (name, config) in configs {
        let server: ServerName = name.parse().map_err(ConfigError::from)?;
        if matches!(config.reach, ServerTransport::Stdio { .. }) && shared.guard.is_none() {
            return Err(BuildError::NoGuard { server: name });
        }
        named.insert(server, config);
    }
    let folder = shared.data_dir.map(|dir| dir.join("mcp"));
    let options = McpOptions {
        memory: folder.as_ref().map(|folder| folder.join("listings")),
        tokens: folder.as_ref().map(|folder| folder.join("tokens.json")),
        guard: shared.guard,
        secrets: shared.secrets.clone(),
        root: shared.workspace,
        ..McpOptions::default()
    };
    Ok(Some(Arc::new(Servers::new(named, options))))
}
