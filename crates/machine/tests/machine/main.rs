//! Tests of the machine's public interface, in one binary: each further test binary would link all dependencies again.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod abreast;
mod budget;
mod caches;
mod compaction;
mod cut_inputs;
mod dialects;
mod end_statements;
mod ends;
mod fatigue;
mod forks;
mod guards;
mod healthy;
mod images;
mod imports;
mod interruptions;
mod judging;
mod money;
mod output;
mod paused_replies;
mod pauses;
mod plans;
mod presets;
mod properties;
mod purses;
mod recorded_counts;
mod repeated_scripts;
mod resumes;
mod retries;
mod routing;
mod support;
mod titles;
mod turns;
mod unasked_by_script;
mod undo;
