//! The cargo that runs us, and where it puts what it builds.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs cargo in the workspace.
pub(crate) fn cargo(root: &Path, words: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    match Command::new(cargo).args(words).current_dir(root).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo {} ended with {status}", words.join(" "))),
        Err(error) => Err(format!("cargo can't be started: {error}")),
    }
}

pub(crate) fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}
