//! The stores from outside, in one program: each program more is linked, and kept on the disk, with all it stands on.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod control;
mod damage;
#[cfg(target_os = "linux")]
mod disk;
mod fixtures;
mod garbage;
mod legacy;
mod lost;
mod processes;
mod removed;
mod sqlite;
