//! Tests of the test doubles' public interface, as one program: each further test program is linked, and stored on
//! disk, with all its dependencies.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod common;
mod mcp_http;
mod mcp_stdio;
mod model;
mod sdk_judge;
mod server;
mod tools;
