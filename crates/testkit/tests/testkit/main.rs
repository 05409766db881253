//! The stand-ins from outside, in one program: each program more is linked, and kept on the disk, with all it stands on.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod common;
mod mcp_http;
mod mcp_stdio;
mod model;
mod server;
mod tools;
