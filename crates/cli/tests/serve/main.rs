//! `windlass mcp-serve` on the real binary, spoken to in raw JSON lines: the wire itself is checked.

#![allow(clippy::expect_used, clippy::panic, clippy::needless_pass_by_value)]

#[path = "../support/mod.rs"]
mod support;

mod client;

mod asking;
mod handshake;
mod leaving;
mod nested;
mod reading;
mod working;
