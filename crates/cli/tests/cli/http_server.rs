//! `windlass serve`: the real binary over HTTP (W3).

mod access;
mod always;
mod bad_requests;
mod conversations;
mod openai_clients;
mod openai_wire;
mod folders;
#[cfg(target_os = "linux")]
mod hostile_clients;
mod limits;
mod other_processes;
mod restarts;
mod users;
