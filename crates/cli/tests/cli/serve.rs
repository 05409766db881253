//! `windlass mcp-serve` on the real binary. The tests send raw JSON lines, to check the wire format itself.

mod client;

mod asking;
mod handshake;
mod leaving;
mod nested;
mod reading;
mod working;
