//! The driver from outside, in one program: each program more is linked, and kept on the disk, with all it stands on.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod control;
mod dialects;
mod driver;
mod fork;
mod hub;
mod kill_matrix;
mod late_servers;
mod mcp_kill_matrix;
mod servers;
mod support;
mod undo;
