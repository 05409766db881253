//! Reads a data folder that can't be written: on a read-only disk, owned by another user, a copy on optical media, on
//! a full disk.
//!
//! SQLite reads a database in WAL mode only if its shared memory exists or can be created. If it can't and the log is
//! empty, the database is opened as an immutable file; otherwise it is copied, with its log, into a temporary folder,
//! which is removed afterwards. A database of version 1 or 2 is copied as well, and migrated there; one of version 3 is read
//! as it is (`schema::add_missing_columns`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use super::counter::CommitCount;
use super::fault::meaning;
use super::folder::DataFolder;
use super::options::Durability;
use super::{legacy, private, schema};
use crate::{Loss, StoreError};

/// How connections read a database.
#[derive(Debug)]
pub(super) enum Source {
    /// While others may write it.
    Live(PathBuf),
    /// In a folder where no file can be created.
    ReadOnly(PathBuf),
    /// As an immutable file.
    Unchanging(PathBuf),
    /// From a temporary copy.
    Copy(FolderCopy),
}

impl Source {
    /// Path of the database that is read.
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::Live(path) | Self::ReadOnly(path) | Self::Unchanging(path) => path.clone(),
            Self::Copy(copy) => copy.0.database(),
        }
    }

    pub(super) fn connect(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Live(path) => schema::connect(path),
            Self::Copy(copy) => schema::connect(&copy.0.database()),
            Self::ReadOnly(path) => schema::connect_read_only(path),
            Self::Unchanging(path) => schema::connect_unchanging(path),
        }
    }
}

/// A temporary folder that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct FolderCopy(DataFolder);

impl Drop for FolderCopy {
    fn drop(&mut self) {
        // Leftovers are in the scratch folder, where files may be deleted at any time.
        let _ = fs::remove_dir_all(&self.0.0);
    }
}

/// Opens a folder for reading; also returns its loss. Copies go into the folder `scratch`.
pub(super) fn open(folder: &DataFolder, scratch: &Path) -> Result<(Source, Option<Loss>), StoreError> {
    let path = folder.database();
    if let Err(error) = fs::metadata(&path) {
        return Err(StoreError::of_io(&path, &error));
    }
    let noted = CommitCount::noted(folder)?;
    let source = source(folder, scratch)?;
    let count = CommitCount::of(&source.connect()?).map_err(|error| meaning(&source.path(), &error))?;
    // A folder of an older version has no count file, and migrating a copy gives it another id.
    let loss = noted.and_then(|noted| count.behind(noted));
    Ok((source, loss))
}

fn source(folder: &DataFolder, scratch: &Path) -> Result<Source, StoreError> {
    let path = folder.database();
    let log_is_empty = !fs::metadata(folder.log()).is_ok_and(|log| log.len() > 0);
    let mut ways = vec![Source::ReadOnly(path.clone())];
    ways.extend(log_is_empty.then_some(Source::Unchanging(path)));
    for way in ways {
        match way.connect().and_then(|connection| schema::version(&connection, &way.path())) {
            Ok(3..) => return Ok(way),
            // It has an older version, or its shared memory is missing.
            Ok(_) | Err(StoreError::ReadOnly { .. } | StoreError::Full { .. } | StoreError::Io { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Source::Copy(copied(folder, scratch)?))
}

fn copied(folder: &DataFolder, scratch: &Path) -> Result<FolderCopy, StoreError> {
    let copy = FolderCopy(fresh_folder(scratch)?);
    for name in ["windlass.db", "windlass.db-wal"].into_iter().chain(legacy::FILES) {
        private::copy(&folder.0.join(name), &copy.0.0.join(name))?;
    }
    // This reads its log and migrates it to this version.
    schema::open(&copy.0, Durability::Normal)?;
    Ok(copy)
}

fn fresh_folder(scratch: &Path) -> Result<DataFolder, StoreError> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = scratch.join(format!("windlass-{}-{number}", std::process::id()));
        match private::make_new_folder(&folder) {
            Ok(()) => return Ok(DataFolder(folder)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::of_io(&folder, &error)),
        }
    }
}
