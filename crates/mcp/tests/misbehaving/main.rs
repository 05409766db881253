//! Servers that misbehave, as real child processes under the guard and over real HTTP. Each ends in a
//! tool error or an unavailable server within the configured time; nothing hangs, crashes or is left
//! running, and a healthy server beside it goes on (P2, P3, P4).
//!
//! This program is its own guard and its own server: started with `guard` it is the guard process,
//! started with `fake` an MCP server under a script; otherwise it runs the tests.

// Where processes are not found in /proc there are no survivors to look for.
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

/// The async functions of a file as trials, each on a runtime of its own.
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
