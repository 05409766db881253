//! Whether the files of the store are still there. A file that was removed can be written on for as long as it is
//! open, and SQLite does not notice: every commit would succeed, and nothing of it be found later. So each
//! commit begins with a look.
//!
//! A folder tells when anything in it was made, moved or removed. So mostly one look at the folder is enough.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{StoreError, error};

/// A change within so short a time of the last may not show: the system's clock for files is a coarse one.
const COARSE: Duration = Duration::from_secs(2);

/// The same where the file system keeps fractions of seconds: a few ticks of the system's timer.
const FINE: Duration = Duration::from_millis(50);

/// Files in one folder that were opened.
#[derive(Debug)]
pub(super) struct Presence {
    folder: PathBuf,
    files: Vec<OpenedFile>,
    /// The folder as it was when all files were there.
    seen: Option<DatabaseStamp>,
}

/// What a look at the folder tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FolderState {
    /// Nothing in it was made, moved or removed since the last look.
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

/// Where a file is, whatever its name.
pub(super) fn place(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

impl Presence {
    /// Of the files at `paths` in `folder`, which were just opened.
    pub(super) fn of(folder: &Path, paths: impl IntoIterator<Item = PathBuf>) -> Result<Self, StoreError> {
        let open = |path: PathBuf| match fs::metadata(&path) {
            Ok(found) => Ok(OpenedFile { place: place(&found), path }),
            Err(error) => Err(StoreError::of_io(&path, &error)),
        };
        let files = paths.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { folder: folder.to_owned(), files, seen: None })
    }

    /// Whether their names still lead to them.
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
