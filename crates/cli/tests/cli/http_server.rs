//! `windlass serve`: the real binary over HTTP (W3).

mod access;
mod attach;
mod bad_requests;
mod conversations;
mod open;
mod other_processes;
mod restarts;
