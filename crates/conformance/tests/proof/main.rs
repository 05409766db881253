//! The MCP client proved on what others wrote: the protocol's conformance suite, and servers people use.

mod packages;
mod room;
mod servers;
mod suite;
