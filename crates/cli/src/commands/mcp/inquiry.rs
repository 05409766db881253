//! The servers a command queries, and the errors where one can't be used.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal as _};

use windlass_mcp::{ServerError, ServerName, ServerState, Servers};
use windlass_setup::servers::AttachedServers;
use windlass_setup::settings::{ConfiguredServer, nearest};

use crate::consent::wording;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{StatusLines, StreamTarget, harmless_line};
use crate::streams::print_notice;

pub(super) const NO_SERVER: &str = "no MCP server is configured: `windlass mcp add NAME -- COMMAND` adds one, and so does \
                         `mcpServers` in windlass.toml";

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    Text,
    Json,
}

/// The servers a command can query, and how it prints the results.
pub(super) struct Inquiry {
    pub(super) attached: AttachedServers,
    /// The servers that the person declined.
    pub(super) refused: BTreeSet<ServerName>,
    pub(super) configured: BTreeMap<ServerName, ConfiguredServer>,
    pub(super) format: OutputFormat,
}

impl Inquiry {
    /// Returns the server with the name a person typed, if it can be used.
    pub(super) fn server(&self, text: &str) -> Result<ServerName, CommandError> {
        let name = parse_server_name(text)?;
        let usage = |text: String| Err(CommandError::new(Exit::Usage, text));
        if self.configured.is_empty() {
            return self.servers().map(|_| name);
        }
        if !self.configured.contains_key(&name) {
            let known: Vec<&str> = self.configured.keys().map(ServerName::as_str).collect();
            return usage(format!("there is no MCP server `{name}`; {}", nearest(name.as_str(), &known)));
        }
        if self.waiting().iter().any(|(waiting, _)| **waiting == name) {
            let waits = if self.refused.contains(&name) { "was declined by you" } else { "waits for your consent" };
            return usage(format!("MCP server `{name}` {waits}; `windlass mcp approve` gives your consent"));
        }
        Ok(name)
    }

    pub(super) fn servers(&self) -> Result<&Servers, CommandError> {
        let waiting = self.waiting();
        let none = || {
            if !waiting.is_empty() {
                let names: Vec<&str> = waiting.iter().map(|(name, _)| name.as_str()).collect();
                let text = format!(
                    "these MCP servers wait for your consent: {}; `windlass mcp approve` gives it",
                    names.join(", ")
                );
                return CommandError::new(Exit::Usage, text);
            }
            CommandError::new(Exit::Usage, NO_SERVER)
        };
        self.attached.servers().ok_or_else(none)
    }

    /// Returns the configured servers that are not used until the person agrees to them.
    pub(super) fn waiting(&self) -> Vec<(&ServerName, &ConfiguredServer)> {
        let used = self.attached.servers().map(Servers::states).unwrap_or_default();
        let is_used = |name: &ServerName| used.iter().any(|state| state.name == *name);
        self.configured.iter().filter(|(name, _)| !is_used(name)).collect()
    }

    /// Connects to a server, and prints its pending notices.
    pub(super) async fn connect(&self, name: &ServerName) -> Result<ServerState, CommandError> {
        let (servers, mut lines) = (self.servers()?, progress_lines());
        lines.show(&format!("waiting for {name}"));
        let state = servers.connect(name).await;
        lines.erase();
        match &state {
            Ok(_) => self.print_news(),
            // The error already contains what the notices say.
            Err(_) => drop(self.attached.news()),
        }
        Ok(state?)
    }

    pub(super) fn print_news(&self) {
        for news in self.attached.news() {
            print_notice(&format!("windlass: {}", harmless_line(&wording(&news))));
        }
    }
}

/// Returns the status lines that name what the command is waiting for.
pub(super) fn progress_lines() -> StatusLines<io::Stderr> {
    let stream = if io::stderr().is_terminal() { StreamTarget::Terminal } else { StreamTarget::Piped };
    StatusLines::new(io::stderr(), stream)
}

pub(super) fn parse_server_name(text: &str) -> Result<ServerName, CommandError> {
    text.parse::<ServerName>().map_err(|error| CommandError::new(Exit::Usage, error.to_string()))
}

impl From<ServerError> for CommandError {
    fn from(error: ServerError) -> Self {
        let exit = match &error {
            ServerError::Unknown(_) => Exit::Usage,
            ServerError::Unavailable { .. } => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}
