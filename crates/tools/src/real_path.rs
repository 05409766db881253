//! Where a path leads once its links are followed.

use std::io;
use std::path::{Path, PathBuf};

/// The path without links, as far as it is there.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let real = path.ancestors().find_map(|there| {
        let rest = path.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(rest))
    });
    // `join` with nothing adds a slash that compares the same.
    Ok(real.unwrap_or(path))
}
