//! The state of a server for display.

use std::sync::Arc;

use windlass_tools::Tool;
use windlass_vocab::ToolSpec;

use crate::connection::ServerConnection;
use crate::memory::ServerMemory;
use crate::name::ServerName;

/// The state of a server's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// The configuration disables it.
    Disabled,
    /// Nothing has needed it yet.
    Idle,
    /// It is being connected.
    Connecting,
    /// It is connected.
    Connected,
    /// It died and is being restarted.
    Restarting,
    /// It requires a login.
    NeedsAuth,
    /// It could not be connected; it is tried again at the next run.
    Failed,
    /// It was shut down.
    Closed,
}

/// The state of a server for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// Its name.
    pub name: ServerName,
    /// The state of its connection.
    pub state: ConnectionState,
    /// The protocol revision it uses, or used last time.
    pub revision: Option<String>,
    /// Its own name and version.
    pub about: Option<String>,
    /// Its instructions for use.
    pub instructions: Option<String>,
    /// Its tools: current, or from the last time.
    pub tools: Vec<ToolSpec>,
    /// The tools that have changed since they were accepted.
    pub changed: Vec<ChangedTool>,
    /// Listed tools that can't be offered, from listings since the process started.
    pub left_out: Vec<UnofferedTool>,
    /// Why it is not connected, as the rest of a sentence that begins with the server.
    pub last_error: Option<String>,
    /// The last lines that it wrote to standard error while it was connected, safe to display.
    pub log_tail: Vec<String>,
}

/// A tool that a server lists and that can't be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnofferedTool {
    /// The tool's name, safe to display.
    pub tool: String,
    /// Why.
    pub reason: String,
}

/// A tool that has changed since it was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedTool {
    /// The tool's name on its server.
    pub name: String,
    /// The accepted description and schema.
    pub before: (String, String),
    /// The current description and schema.
    pub now: (String, String),
}

impl ServerState {
    pub(crate) fn new(
        name: &ServerName,
        state: ConnectionState,
        connection: Option<&ServerConnection>,
        memory: &ServerMemory,
        tools: &[Arc<dyn Tool>],
    ) -> Self {
        let about = connection.and_then(|connection| connection.info.server_info.as_ref());
        let changed = memory.changed().filter_map(|now| Some((memory.before(now)?, now)));
        Self {
            name: name.clone(),
            state,
            revision: connection.map(|connection| connection.revision().to_owned()).or(memory.revision.clone()),
            about: about.map(|about| format!("{} {}", about.title.as_ref().unwrap_or(&about.name), about.version)),
            instructions: connection.and_then(|connection| connection.info.instructions.clone()),
            tools: tools.iter().map(|tool| tool.spec().clone()).collect(),
            changed: changed
                .map(|(before, now)| ChangedTool {
                    name: now.name.clone(),
                    before: (before.description.clone(), before.input.as_str().to_owned()),
                    now: (now.description.clone(), now.input.as_str().to_owned()),
                })
                .collect(),
            left_out: Vec::new(),
            last_error: None,
            log_tail: Vec::new(),
        }
    }
}
