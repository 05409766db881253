//! Tests of the MCP client against foreign code: the protocol's conformance suite, and widely used servers.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod room;
mod servers;
mod suite;
