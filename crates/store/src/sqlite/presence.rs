//! Whether a file of the store is still there. A file that was removed can be written on for as long as it is
//! open, and SQLite does not notice: every commit would succeed, and nothing of it be found later. So each
//! commit ends with a look at the name of the file; beside the write itself that costs next to nothing.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::StoreError;

/// A file that was opened.
#[derive(Debug)]
pub(super) struct Presence {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Presence {
    /// Of the file that was just opened at `path`.
    pub(super) fn of(path: &Path) -> Result<Self, StoreError> {
        let found = fs::metadata(path).map_err(|error| StoreError::of_io(path, &error))?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    /// Whether its name still leads to it.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => Ok(()),
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(StoreError::of_io(&self.path, &error))
            }
            Ok(_) | Err(_) => Err(StoreError::Gone { path: self.path.clone() }),
        }
    }
}
