//! `windlass mcp-serve` on the real binary, spoken to in raw JSON lines: the wire itself is checked.

mod client;

mod asking;
mod handshake;
mod leaving;
mod nested;
mod reading;
mod working;
