//! Misbehaving servers, as real child processes under the guard and over real HTTP. Each test ends with a tool error
//! or an unavailable server within the configured time; nothing hangs, crashes or is left running, and a healthy
//! server keeps working meanwhile (P2, P3, P4).
//!
//! This program is also the guard and the server: with the argument `guard` it is the guard process, with `fake` a
//! scripted MCP server; otherwise it runs the tests.

// Surviving processes are found through /proc.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod asking;
mod http;
mod leaving;
mod listings;
mod noise;
mod room;
mod starts;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use windlass_testkit::mcp::{McpScript, run_mcp_fake};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("guard") => windlass_tools::guard::run(),
        Some("fake") => {
            let script = std::fs::read_to_string(arguments.next().unwrap()).unwrap();
            run_mcp_fake(&McpScript::parse(&script).unwrap())
        }
        Some(_) | None => libtest_mimic::run(&Arguments::from_args(), trials()).exit_code(),
    }
}

fn trials() -> Vec<Trial> {
    let files = [
        answers::trials,
        asking::trials,
        http::trials,
        leaving::trials,
        listings::trials,
        noise::trials,
        starts::trials,
    ];
    files.into_iter().flat_map(|trials| trials()).collect()
}

/// Turns the async functions of a file into trials, each on its own runtime.
#[macro_export]
macro_rules! trials {
    ($($name:ident,)*) => {
        pub(crate) fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$(libtest_mimic::Trial::test(stringify!($name), || {
                $crate::room::on_a_runtime($name());
                Ok(())
            }),)*]
        }
    };
}
