//! The library as an engineer uses it, in one program: each program more is linked, and kept on the disk, with all it stands on.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod agent;
mod ended;
mod examples;
mod questions;
mod readme;
mod run_error;
mod system;
mod typed_output;
mod typed_tools;
