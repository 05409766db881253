//! `windlass serve`: the real binary over HTTP (W3).

mod access;
mod bad_requests;
mod conversations;
mod openai_clients;
mod openai_wire;
mod other_processes;
mod restarts;
