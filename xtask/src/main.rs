//! `cargo xtask`: the project's own commands, one row of [`COMMANDS`] and one file each.

mod bench;
mod cargo;
mod dist;
mod events;
mod jobs;
mod kill_matrices;
mod packages;
mod picture;
mod test;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A command: its name, its description, and its function, which gets the workspace folder and the arguments after the
/// name. The error says what is wrong.
type Command = (&'static str, &'static str, fn(&Path, &[String]) -> Result<(), String>);

const COMMANDS: &[Command] = &[
    ("test", "everything that must hold: format, tidy, clippy, packages, all tests, doc tests", |root, words| {
        alone(words).and_then(|()| test::run(root))
    }),
    (
        "packages",
        "what tests are run against: MCP servers, a small model, SDKs; installed where it is missing",
        |root, words| alone(words).and_then(|()| packages::install(root)),
    ),
    ("tidy", "the rules of the house that no compiler checks", |root, words| {
        alone(words).and_then(|()| tidy::run(root))
    }),
    ("kill-matrices", "the numbers of ways to die in docs and README, counted anew", |root, words| {
        alone(words).and_then(|()| kill_matrices::run(root))
    }),
    ("events", "the TypeScript types of the events, written from docs/events.md", |root, words| {
        alone(words).and_then(|()| events::run(root))
    }),
    ("picture", "the animation in the README, played anew", |root, words| {
        alone(words).and_then(|()| picture::run(root))
    }),
    ("dist", "the release: built, checked for size, packed with its papers and a checksum [--target NAME]", dist::run),
    ("jobs", "how often a model finishes ordinary file jobs; `cargo xtask jobs --help` lists the flags", jobs::run),
    ("bench", "the figures against their floors, built as released [--quick] [--only NAME]", bench::run),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let (wanted, words) = wanted.split_first().map_or(("", &[][..]), |(name, words)| (name.as_str(), words));
    let Some((name, _, run)) = COMMANDS.iter().find(|(known, ..)| *known == wanted) else {
        eprintln!("usage: cargo xtask COMMAND");
        for (name, what, _) in COMMANDS {
            eprintln!("  {name:13} {what}");
        }
        return ExitCode::from(2);
    };
    match run(&root(), words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("\ncargo xtask {name}: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Refuses arguments, for commands that take none.
fn alone(words: &[String]) -> Result<(), String> {
    if words.is_empty() { Ok(()) } else { Err(format!("it takes no words, but was given `{}`", words.join(" "))) }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
