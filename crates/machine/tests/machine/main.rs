//! The machine from outside, in one program: each program more is linked, and kept on the disk, with all it stands on.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod abreast;
mod dialects;
mod ends;
mod fatigue;
mod forks;
mod guards;
mod healthy;
mod imports;
mod interruptions;
mod output;
mod pauses;
mod presets;
mod properties;
mod resumes;
mod retries;
mod support;
mod turns;
mod undo;
