//! Tests of the tools' public interface, in one program, because each program is linked with all its dependencies.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod attaching;
mod command_lines;
mod files;
mod offer;
mod prefilter;
mod replies;
mod undo;
