//! `cargo xtask bench`: builds what is measured, optimised, and runs `windlass-bench`.

use std::path::{Path, PathBuf};
use std::process::Command;

const BUILD: &[&str] =
    &["build", "--release", "--locked", "-p", "windlass-cli", "-p", "windlass-testkit", "-p", "windlass-bench"];
const RUN: &[&str] = &["run", "--release", "--locked", "--quiet", "-p", "windlass-bench", "--"];

/// The variable by which the counter of instructions finds its runner.
const RUNNER: &str = "GUNGRAUN_RUNNER";

/// Builds and measures; `words` go to the bench.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    cargo(root, BUILD, &[], None)?;
    let counts = !words.iter().any(|word| word == "--only") || words.iter().any(|word| word == "instructions");
    let runner = if counts && std::env::var_os(RUNNER).is_none() { Some(runner(root)?) } else { None };
    cargo(root, RUN, words, runner.as_deref())
}

/// The runner of the counter, of the version the lock file has, installed under `target` once.
fn runner(root: &Path) -> Result<PathBuf, String> {
    const NAME: &str = "gungraun-runner";
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    let package = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{NAME}\"")));
    let version = package.and_then(|package| package.split("version = \"").nth(1)?.split('"').next());
    let version = version.ok_or_else(|| format!("Cargo.lock has no {NAME}"))?;
    let folder = root.join("target/tools").join(format!("{NAME}-{version}"));
    let program = folder.join("bin").join(NAME);
    if !program.exists() {
        let words = ["install", "--locked", NAME, "--version", version, "--root"];
        cargo(root, &words, &[folder.display().to_string()], None)?;
    }
    Ok(program)
}

fn cargo(root: &Path, words: &[&str], more: &[String], runner: Option<&Path>) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(words).args(more).current_dir(root);
    if let Some(runner) = runner {
        command.env(RUNNER, runner);
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo {} ended with {status}", words[0])),
        Err(error) => Err(format!("cargo can't be started: {error}")),
    }
}
