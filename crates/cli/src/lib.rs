//! The command line of Windlass.
//!
//! The protocol: parse the arguments ([`args`]) → gather and resolve the settings ([`settings`]) →
//! do the command ([`commands`]) → leave with the exit code of its outcome ([`exit`]). Only this
//! crate reads settings from the environment, and the terminal; everything below is given what it needs.
//!
//! What scripts may rely on: the answer alone on standard output, everything else on standard
//! error, and the exit codes of [`exit::Exit`].

pub mod args;
mod chat;
pub mod commands;
mod crash;
mod demo;
mod doctor;
#[cfg(test)]
mod emulator;
pub mod exit;
mod form;
mod init;
mod models;
pub mod output;
pub mod piped;
pub mod prompt;
#[cfg(test)]
mod sample;
pub mod screen;
pub mod secrets;
mod serve;
mod servers;
pub mod settings;
mod tty;

use std::process::ExitCode;

use clap::Parser;

/// Keeps commands from reading the key out of this process: its environment and memory are closed to
/// others of the same user (X1).
fn hide_memory() {
    #[cfg(target_os = "linux")]
    // Where the system refuses, things are as they always were.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Does what the process's arguments say.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = windlass::init() {
        return code;
    }
    hide_memory();
    let cli = args::Cli::parse();
    let env = settings::Env::of_process();
    let exit = match commands::dispatch(cli, env) {
        Ok(exit) => exit,
        Err(error) => {
            commands::streams::tell(&format!("windlass: {}", output::harmless_lines(&error.message)));
            error.exit
        }
    };
    exit.into()
}
