//! `windlass serve`: the real binary over HTTP (W3).

mod access;
mod bad_requests;
mod cleaning;
mod conversations;
mod documented;
mod draining;
mod killed_under_load;
mod many_followers;
mod metrics;
mod other_processes;
mod restarts;
