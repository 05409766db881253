//! Turns settings into an agent: the preparation that every door (the command line, `mcp-serve`, a server) shares.
//!
//! The protocol: gather the settings' sources ([`settings::Sources`]) → settle whether the project is trusted
//! ([`trusting::settle_trust`]) → resolve ([`settings::Settings`]) → find the secrets, read the files that
//! instruct the agent and attach the tool servers ([`run_setup::RunSetup`]) → choose the model ([`run_setup::RunSetup::choose`]) → open the store ([`store`]) → build
//! the agent ([`agent::build`]).
//!
//! This crate depends on no door: it parses no arguments, writes to no terminal and has no exit codes. It asks the
//! person for decisions through [`asking::Person`], which the door implements.

pub mod agent;
pub mod asking;
pub mod built_agents;
pub mod context_files;
pub mod demo;
mod folder_lock;
pub mod json_fault;
pub mod last_run;
pub mod models;
pub mod permissions;
pub mod run_setup;
#[cfg(test)]
mod scripted_person;
pub mod secrets;
pub mod servers;
pub mod session_agent;
pub mod settings;
pub mod store;
pub mod test_hooks;
pub mod trusting;
