//! Tools of MCP servers (P1–P4).
//!
//! The protocol: [`servers_from_json`] reads the usual `mcpServers` object; [`Servers`] holds the
//! servers it names and is handed to the registry as its `ToolServers`. Nothing is started until they
//! are woken or a tool is called; then each is reached by itself, within its own time, and kept. What
//! a server's tools are is remembered, so from the second time on they are offered before it is
//! there. A server that hangs, dies or talks nonsense costs its own calls and nothing else.
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
