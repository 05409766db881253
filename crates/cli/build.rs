//! Writes the version as `windlass --version` shows it: with the commit and its day where git knows
//! them, or where `WINDLASS_COMMIT` says them, and without otherwise. Runs again only when the commit
//! that is checked out changes.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=WINDLASS_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=WINDLASS_VERSION={shown}");
}

/// `0123456789 2026-01-31`.
fn commit() -> Option<String> {
    if let Some(told) = std::env::var("WINDLASS_COMMIT").ok().filter(|told| !told.trim().is_empty()) {
        return Some(told.trim().to_owned());
    }
    // Sources unpacked inside somebody else's repository are not of its commit.
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    watch("HEAD");
    // Grows with every commit and checkout, wherever the branch itself is kept.
    watch("logs/HEAD");
    git(&["log", "-1", "--format=%h %cs", "--abbrev=10"])
}

/// Has this script run again when a file of git changes. One that is not there would run it every time.
fn watch(name: &str) {
    if let Some(path) = git(&["rev-parse", "--git-path", name])
        && Path::new(&path).exists()
    {
        println!("cargo::rerun-if-changed={path}");
    }
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
