//! The command line of Windlass.
//!
//! The protocol: parse the arguments ([`args`]) → gather and resolve the settings ([`windlass_setup`]) →
//! run the command ([`commands`]) → exit with the code of its outcome ([`exit`]). Only this crate reads the arguments
//! and the terminal; the crates below get everything they need passed in.
//!
//! What scripts may rely on: the answer alone on standard output, everything else on standard
//! error, and the exit codes of [`exit::Exit`].

pub mod args;
mod attach;
mod attaching;
mod browser;
mod chat;
pub mod commands;
mod consent;
mod demo;
mod doctor;
#[cfg(test)]
mod emulator;
pub mod error;
pub mod exit;
mod form;
mod hidden_line;
mod init;
mod interrupts;
mod local_server;
mod models;
pub mod output;
pub mod piped;
pub mod prompt;
mod remote_server;
#[cfg(test)]
mod sample;
pub mod screen;
mod serve;
pub mod streams;
mod terminal_mode;
mod trace_log;
mod tty;

use std::process::ExitCode;

use windlass_setup::{secrets, settings};

/// Keeps commands that the agent runs from reading the API key out of this process: closes its environment and memory
/// to other processes of the same user (X1).
fn hide_memory() {
    #[cfg(target_os = "linux")]
    // If the system refuses, the process stays readable as by default.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Renders an error for the person. Messages of the argument parser already begin with `error:`.
fn error_text(message: &str) -> String {
    let text = output::harmless_lines(message);
    if text.starts_with("error: ") { text.trim_end().to_owned() } else { format!("windlass: {text}") }
}

/// Runs the command named by the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = windlass::init() {
        return code;
    }
    hide_memory();
    let env = settings::Env::of_process();
    let known = secrets::known_secrets(&env, None);
    let scrub = |text: &str| secrets::scrubber(&known).scrub(text).into_owned();
    let done = match args::secrets::of_process(&known, scrub) {
        Ok(cli) => trace_log::begin(cli.log.as_deref(), &env, secrets::scrubber(&known))
            .and_then(|()| commands::dispatch(cli, env)),
        Err(error) => Err(error),
    };
    let exit = match done {
        Ok(exit) => exit,
        Err(error) => {
            streams::print_notice(&error_text(&scrub(&error.message)));
            error.exit
        }
    };
    trace_log::end();
    exit.into()
}
