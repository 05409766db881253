//! Everything that can be wrong with what comes in. Each time: a sentence that says what to do, the
//! right exit code, nothing lost or half-written, and the next run works.

#![allow(clippy::expect_used, clippy::panic)]

#[path = "../support/mod.rs"]
mod support;

mod data_folder;
mod prompts;
mod servers;
mod small_disk;
mod tools;
