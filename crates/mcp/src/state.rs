//! What a person sees of a server.

use std::sync::Arc;

use windlass_tools::Tool;
use windlass_vocab::ToolSpec;

use crate::connection::ServerConnection;
use crate::memory::ServerMemory;
use crate::name::ServerName;

/// Where a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// It is configured not to be used.
    Disabled,
    /// Nobody has needed it yet.
    Idle,
    /// It is being reached.
    Connecting,
    /// It is there.
    Connected,
    /// It died and is being started again.
    Restarting,
    /// It wants a person to log in.
    NeedsAuth,
    /// It could not be reached, and is tried again at the next run.
    Failed,
    /// It was shut down.
    Closed,
}

/// What a person sees of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// Its name.
    pub name: ServerName,
    /// Where it is.
    pub state: ConnectionState,
    /// The revision of the protocol it speaks, or spoke the last time.
    pub revision: Option<String>,
    /// What it calls itself, and its version.
    pub about: Option<String>,
    /// What it says of how it is to be used.
    pub instructions: Option<String>,
    /// Its tools: as they are, or were the last time.
    pub tools: Vec<ToolSpec>,
    /// Those that are not what they were when they were first seen.
    pub changed: Vec<ChangedTool>,
    /// What it lists and can't be offered, as far as it was listed since the start.
    pub left_out: Vec<UnofferedTool>,
    /// Why it is not there, for a sentence that begins with the server.
    pub last_error: Option<String>,
}

/// A tool that a server lists and that can't be offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnofferedTool {
    /// Its name, safe to show.
    pub tool: String,
    /// Why.
    pub reason: String,
}

/// A tool that is not what it was when it was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedTool {
    /// Its name with the server.
    pub name: String,
    /// What it said of itself, and its schema.
    pub before: (String, String),
    /// What it says now, and its schema.
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
        }
    }
}
