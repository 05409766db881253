//! From settings to an agent: what every door (the command line, `mcp-serve`, a server) makes ready in the same way.
//!
//! The protocol: gather the settings' sources ([`settings::Sources`]) → settle whether the project is trusted
//! ([`trusting::settle_trust`]) → resolve ([`settings::Settings`]) → find the secrets and attach the tool servers
//! ([`run_setup::RunSetup`]) → choose the model ([`run_setup::RunSetup::choose`]) → open the store ([`store`]) → build
//! the agent ([`agent::build`]).
//!
//! This crate knows no door: it parses no arguments, writes to no terminal and has no exit codes. What only a person
//! can decide it asks through [`asking::Person`], which the door implements.

pub mod agent;
pub mod asking;
pub mod demo;
mod folder_lock;
pub mod json_fault;
pub mod models;
pub mod permissions;
pub mod run_setup;
#[cfg(test)]
mod scripted_person;
pub mod secrets;
pub mod servers;
pub mod settings;
pub mod store;
pub mod test_hooks;
pub mod trusting;
