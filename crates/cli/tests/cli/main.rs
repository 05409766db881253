//! Tests of the binary, in one test program: every further program would link all dependencies again and use disk.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
#[cfg(target_os = "linux")]
mod browser;
mod chat;
mod contract;
mod first_run;
mod http_server;
// Without /proc the tests can't look for surviving processes.
#[cfg(target_os = "linux")]
mod kill_matrix;
#[cfg(target_os = "linux")]
mod plan_kill_matrix;
#[cfg(unix)]
mod readme;
mod real_model;
mod real_servers;
mod sdk_judges;
mod serve;
#[cfg(target_os = "linux")]
mod summary_kill_matrix;
mod usage;
