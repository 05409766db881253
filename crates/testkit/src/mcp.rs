//! Fake MCP servers that misbehave as scripted.
//!
//! They implement JSON-RPC by hand, without any SDK, so that they can break each of its rules. A
//! [`McpScript`] is plain data: which revisions a server supports, how it starts, does its handshake, lists its tools
//! and exits, what else it writes, and what each [`FakeTool`] does. [`run_mcp_fake`] plays it over standard input and
//! output (the program `windlass-mcp-fake`, or a test that starts itself again), [`McpHttpServer`] over
//! streamable HTTP. Both pass each message to the same pure conversation, which decides what to do.
//!
//! A server records everything it receives and does in its [`McpDiary`], a folder that outlives it: process ids,
//! calls with their `_meta`, cancellations, methods.

mod act;
mod conversation;
mod diary;
mod http;
mod listing;
mod script;
mod stdio;
mod tool_actions;

pub use diary::{McpCall, McpDiary};
pub use http::{HttpAnswers, HttpBehaviour, HttpFault, HttpFaultKind, HttpSession, McpHttpRequest, McpHttpServer};
pub use script::{
    AskBack, FakeTool, Flood, Grandchild, Greeting, InputEndBehaviour, ListingStyle, McpScript, Noise, PersonRequest,
    Probe, REVISIONS, ToolAction,
};
pub use stdio::run_mcp_fake;
