//! The cargo that runs this program, and its target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The name and the value of an environment variable.
pub(crate) type Variable<'a> = (&'a str, &'a str);

/// Runs cargo in the workspace, with these additional environment variables.
pub(crate) fn cargo(root: &Path, words: &[&str], variables: &[Variable<'_>]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(words).envs(variables.iter().copied()).current_dir(root);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo {} ended with {status}", words.join(" "))),
        Err(error) => Err(format!("cargo can't be started: {error}")),
    }
}

pub(crate) fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}
