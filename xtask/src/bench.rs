//! `cargo xtask bench`: builds what is measured, optimised, and runs `windlass-bench`.

use std::path::Path;
use std::process::Command;

const BUILD: &[&str] =
    &["build", "--release", "--locked", "-p", "windlass-cli", "-p", "windlass-testkit", "-p", "windlass-bench"];
const RUN: &[&str] = &["run", "--release", "--locked", "--quiet", "-p", "windlass-bench", "--"];

/// Builds and measures; `words` go to the bench.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    cargo(root, BUILD, &[])?;
    cargo(root, RUN, words)
}

fn cargo(root: &Path, words: &[&str], more: &[String]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo).args(words).args(more).current_dir(root).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo {} ended with {status}", words[0])),
        Err(error) => Err(format!("cargo can't be started: {error}")),
    }
}
