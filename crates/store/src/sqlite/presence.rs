//! Checks that the store's files still exist. A file that was removed can still be written while it is open, and SQLite
//! does not notice: every commit would succeed, and its data would be lost. So each commit starts with this check.
//!
//! The folder's modification time changes when a file in it is created, moved or removed. So usually one `stat` of the
//! folder is enough.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{StoreError, error};

/// A second change within this time may leave the modification time as it was: file system clocks are coarse.
const COARSE: Duration = Duration::from_secs(2);

/// The same for file systems that store fractions of seconds: a few ticks of the system timer.
const FINE: Duration = Duration::from_millis(50);

/// Opened files in one folder.
#[derive(Debug)]
pub(super) struct Presence {
    folder: PathBuf,
    files: Vec<OpenedFile>,
    /// Identity and modification time of the folder when all files were last found.
    seen: Option<DatabaseStamp>,
}

/// The result of checking the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FolderState {
    /// Nothing in it was created, moved or removed since the last check.
    Same,
    /// Something was, or may have been.
    Changed,
}

#[derive(Debug)]
struct OpenedFile {
    path: PathBuf,
    place: (u64, u64),
}

#[derive(Debug, PartialEq, Eq)]
struct DatabaseStamp {
    place: (u64, u64),
    modified: (i64, i64),
}

/// Identifies a file independently of its name: device and inode.
pub(super) fn place(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

impl Presence {
    /// Tracks the files at `paths` in `folder`, which were just opened.
    pub(super) fn of(folder: &Path, paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, StoreError> {
        let open = |path: PathBuf| match fs::metadata(&path) {
            Ok(found) => Ok(OpenedFile { place: place(&found), path }),
            Err(error) => Err(StoreError::of_io(&path, &error)),
        };
        let files = paths.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { folder: folder.to_owned(), files, seen: None })
    }

    /// Checks that the paths still name these files.
    pub(super) fn check(&mut self) -> Result<FolderState, StoreError> {
        let folder = fs::metadata(&self.folder).ok();
        let stamp = folder
            .as_ref()
            .map(|found| DatabaseStamp { place: place(found), modified: (found.mtime(), found.mtime_nsec()) });
        if stamp.is_some() && stamp == self.seen {
            return Ok(FolderState::Same);
        }
        self.files.iter().try_for_each(OpenedFile::check)?;
        let old = |found: &Metadata| {
            let coarse = if found.mtime_nsec() == 0 { COARSE } else { FINE };
            found.modified().ok()?.elapsed().ok().filter(|age| *age > coarse)
        };
        self.seen = stamp.filter(|_| folder.as_ref().and_then(old).is_some());
        Ok(FolderState::Changed)
    }
}

impl OpenedFile {
    fn check(&self) -> Result<(), StoreError> {
        match fs::metadata(&self.path) {
            Ok(found) if place(&found) == self.place => Ok(()),
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(StoreError::of_io(&self.path, &error))
            }
            Ok(_) | Err(_) => Err(StoreError::Gone { place: error::place(&self.path) }),
        }
    }
}
