//! The library as an engineer uses it. All tests are one program, since each test program is linked and stored with all
//! its dependencies.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[cfg(all(feature = "commands", feature = "sqlite"))]
mod agent;
mod ended;
#[cfg(all(feature = "mcp", feature = "sqlite"))]
mod examples;
mod features;
mod questions;
#[cfg(all(feature = "mcp", feature = "sqlite"))]
mod readme;
mod run_error;
#[cfg(feature = "sqlite")]
mod sdk_judges;
#[cfg(feature = "sqlite")]
mod shared_limits;
mod system;
#[cfg(feature = "sqlite")]
mod typed_output;
#[cfg(feature = "sqlite")]
mod typed_tools;
#[cfg(feature = "sqlite")]
mod wires;
