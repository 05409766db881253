//! The MCP client proved on what others wrote: the protocol's conformance suite, and servers people use.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod room;
mod servers;
mod suite;
