//! Tests of the stores' public interface, as one program: each further test program is linked, and stored on disk, with
//! all its dependencies.

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
mod many_sessions;
mod processes;
mod removed;
mod sqlite;
mod version_3;
