//! Tests of the driver's public interface, in one binary: each further test binary would link all dependencies again.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod breaker;
mod compaction;
mod constrained;
mod control;
mod dialects;
mod draining;
mod driver;
mod edits;
mod fork;
mod hub;
mod kill_matrix;
mod large_catalogue;
mod late_servers;
mod mcp_kill_matrix;
mod mixed_chains;
mod overview;
mod plan_kill_matrix;
mod plans;
mod retrieval;
mod servers;
mod support;
mod titles;
mod undo;
