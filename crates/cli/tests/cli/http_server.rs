//! `windlass serve`: the real binary over HTTP (W3).

mod access;
mod always;
mod attach;
mod bad_requests;
mod cleaning;
mod compacting;
mod conversations;
mod deleting;
mod documented;
mod draining;
mod folders;
#[cfg(target_os = "linux")]
mod hostile_clients;
mod killed_under_load;
mod limits;
mod many_followers;
mod metrics;
mod open;
mod openai_clients;
mod openai_users;
mod openai_wire;
mod other_processes;
mod restarts;
mod users;
