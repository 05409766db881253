//! The binary from outside, in one program: each program more is linked, and kept on the disk, with all it stands on.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod chat;
mod contract;
mod first_run;
// Where processes are not found in /proc there are no survivors to look for.
#[cfg(target_os = "linux")]
mod kill_matrix;
#[cfg(unix)]
mod readme;
mod real_servers;
mod serve;
mod usage;
