//! The contract for scripts, on the real binary: input, output, what happens when a command line is repeated, exit
//! codes, settings, permissions, secrets.

mod access;
mod attachments;
mod chains;
mod command_rules;
mod constrained;
mod context_files;
#[cfg(target_os = "linux")]
mod control;
mod cut_secrets;
mod dialects;
mod exit_codes;
mod failed_commands;
mod forking;
mod guards;
mod imported;
mod judging;
mod limits;
#[cfg(target_os = "linux")]
mod long_waits;
mod looking;
mod models;
mod newer;
mod outside_text;
mod permissions;
mod piped;
mod planning;
mod probing;
mod protected;
mod pulling;
mod repeating;
mod replaying;
#[cfg(target_os = "linux")]
mod resumed;
mod retrieval;
mod routing;
mod sandbox;
mod script_help;
mod script_losses;
mod scripts;
mod secrets;
mod seen_images;
mod servers;
mod sessions;
mod settings;
mod shown;
#[cfg(target_os = "linux")]
mod terminal;
mod titles;
mod trace_log;
#[cfg(target_os = "linux")]
mod trust_questions;
mod trusting;
mod undoing;
#[cfg(target_os = "linux")]
mod undrained;
mod waiting;
mod words;
