//! Resolves the symlinks of a path.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the path with the symlinks in its existing part resolved.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let real = path.ancestors().find_map(|there| {
        let rest = path.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(rest))
    });
    // `join` with an empty path adds a slash, which path comparison ignores.
    Ok(real.unwrap_or(path))
}
