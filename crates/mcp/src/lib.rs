//! Tools of MCP servers (P1–P4).
//!
//! The protocol: [`servers_from_json`] parses the usual `mcpServers` object; [`Servers`] holds the servers it names
//! and is passed to the registry as its `ToolServers`. No server is started until it is woken or one of its tools is
//! called; then each connects on its own, within its own time limit, and stays connected. The tools of a server are
//! remembered, so from the second run on they are offered before it is connected. A server that hangs, dies or sends
//! nonsense affects only its own calls.
//!
//! ```
//! use windlass_mcp::{McpOptions, Servers, ConnectionState, servers_from_json};
//!
//! let config = servers_from_json(&serde_json::json!({"git": {"command": "uvx", "args": ["mcp-server-git"]}}))?;
//! let servers = Servers::new(config, McpOptions::default());
//! assert_eq!(servers.states()[0].state, ConnectionState::Idle);
//! # Ok::<(), windlass_mcp::ConfigError>(())
//! ```

#![deny(missing_docs)]

mod asked_back;
mod call;
mod callbacks;
mod calls;
mod config;
mod config_json;
mod connect;
mod connection;
mod elicit;
mod expand;
mod handshake;
mod http;
mod listing;
mod memory;
mod name;
mod notice;
mod options;
mod pause;
mod result;
mod server;
mod servers;
mod state;
mod stdio;
mod tool;

pub use call::EFFECT_ID;
pub use config::{
    CALL_TIMEOUT, ConfigError, OAuth, STARTUP_TIMEOUT, ServerConfig, ServerConfinement, ServerLimits, ServerTransport,
    ServerUse, TokenSubject, Trust,
};
pub use config_json::{KEYS, servers_from_json, servers_within};
pub use http::login::LoginError;
pub use http::tokens::Logout;
pub use name::{NameError, ServerName};
pub use notice::{Notice, NoticeKind, OutputFault};
pub use options::{MESSAGE_LIMIT, McpOptions, ShowUrl, StartCheck, Variables};
pub use servers::{ServerError, Servers};
pub use state::{ChangedTool, ConnectionState, ServerState, UnofferedTool};
pub use stdio::{LineSplitter, MessagePurpose, ProtocolLine};
