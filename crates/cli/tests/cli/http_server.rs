//! `windlass serve`: the real binary over HTTP (W3).

mod access;
mod bad_requests;
mod conversations;
mod draining;
mod other_processes;
mod restarts;
