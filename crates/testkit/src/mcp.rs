//! Fake MCP servers that misbehave as their script says.
//!
//! They speak raw JSON-RPC, by hand and not by any SDK, so that they can break every rule of it. A
//! [`McpScript`] is plain data: which revisions a server speaks, how it starts, greets, lists and leaves,
//! what else it writes, and what each [`FakeTool`] does. [`run_mcp_fake`] plays it over standard input and
//! output (the program `windlass-mcp-fake`, or a test that starts itself again), [`McpHttpServer`] over
//! streamable HTTP. Both ask the same pure conversation what to do about each message.
//!
//! Whatever a server hears and does it notes in its [`McpDiary`], a folder that outlives it: process ids,
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
