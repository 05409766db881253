//! `cargo xtask`: the project's own commands, one row of [`COMMANDS`] and one file each.

mod test;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A command: its name, what it does, and how. The error says what is wrong.
type Command = (&'static str, &'static str, fn(&Path) -> Result<(), String>);

const COMMANDS: &[Command] = &[
    ("test", "everything that must hold: format, tidy, clippy, all tests, doc tests", test::run),
    ("tidy", "the rules of the house that no compiler checks", tidy::run),
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let command = match wanted.as_slice() {
        [name] => COMMANDS.iter().find(|(known, ..)| known == name),
        _ => None,
    };
    let Some((name, _, run)) = command else {
        eprintln!("usage: cargo xtask COMMAND");
        for (name, what, _) in COMMANDS {
            eprintln!("  {name:6} {what}");
        }
        return ExitCode::from(2);
    };
    match run(&root()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("\ncargo xtask {name}: {what}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
