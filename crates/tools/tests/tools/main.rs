//! The tools from outside, in one program: each program more is linked, and kept on the disk, with all it stands on.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod command_lines;
mod files;
mod offer;
mod undo;
