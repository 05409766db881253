//! The command line of Windlass.
//!
//! The protocol: parse the arguments ([`args`]) → gather and resolve the settings ([`windlass_setup`]) →
//! do the command ([`commands`]) → leave with the exit code of its outcome ([`exit`]). Only this
//! crate reads the arguments and the terminal; everything below is given what it needs.
//!
//! What scripts may rely on: the answer alone on standard output, everything else on standard
//! error, and the exit codes of [`exit::Exit`].

pub mod args;
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
mod init;
pub mod output;
pub mod piped;
pub mod prompt;
#[cfg(test)]
mod sample;
pub mod screen;
mod serve;
pub mod streams;
mod trace_log;
mod tty;

use std::process::ExitCode;

use windlass_setup::{secrets, settings};

/// Keeps commands from reading the key out of this process: its environment and memory are closed to
/// others of the same user (X1).
fn hide_memory() {
    #[cfg(target_os = "linux")]
    // Where the system refuses, things are as they always were.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// An error as the person reads it. What the parser of arguments says begins with a word of its own.
fn error_text(message: &str) -> String {
    let text = output::harmless_lines(message);
    if text.starts_with("error: ") { text.trim_end().to_owned() } else { format!("windlass: {text}") }
}

/// Does what the process's arguments say.
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
            streams::tell(&error_text(&scrub(&error.message)));
            error.exit
        }
    };
    exit.into()
}
