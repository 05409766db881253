//! Copies a data folder while other processes write to it: a snapshot of the database, the large blobs it refers to,
//! and the audit lines of removed sessions. The copy is verified; it is a data folder like any other.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use windlass_vocab::{Hash, SessionId};

use super::blobs::BlobFiles;
use super::counter::{CommitCount, CommitCounter};
use super::fault::meaning;
use super::folder::DataFolder;
use super::options::SqliteOptions;
use super::readers::ReadSnapshot;
use super::{SqliteStore, private};
use crate::error::place;
use crate::{Break, Inconsistency, Loss, SessionLog as _, StoreError, VerifyError, audit_file, verify};

/// The contents of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of records in all sessions.
    pub records: u64,
    /// Bytes of the database and of all large blobs.
    pub bytes: u64,
    /// Sessions that fail verification, both in the copy and in the original.
    pub broken: Vec<(String, Break)>,
    /// Inconsistencies within the database, both in the copy and in the original.
    pub inconsistent: Vec<Inconsistency>,
    /// The loss that the original folder had before the backup.
    pub loss: Option<Loss>,
}

/// Why the backup failed. Nothing of it is left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The target folder is not empty.
    #[error("{place} is not empty; name a folder that is, or one that is not there yet")]
    NotEmpty {
        /// The target folder.
        place: String,
    },
    /// The store could not be read, or the copy not written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How many times a copy is started, because a session was removed meanwhile, with a file that the copy refers to.
const TRIES: usize = 3;

/// The commit count and the blob files of a database copy.
pub(super) struct CopiedDatabase {
    count: CommitCount,
    files: Vec<Hash>,
}

impl SqliteStore {
    /// Copies everything into the folder `dir`, which must be empty or not exist yet. Writers are not blocked.
    pub async fn backup(&self, dir: &Path) -> Result<BackupReport, BackupError> {
        let to = DataFolder(dir.to_owned());
        private::make_folder(dir).map_err(|error| StoreError::of_io(dir, &error))?;
        let is_empty = fs::read_dir(dir).map_err(|error| StoreError::of_io(dir, &error))?.next().is_none();
        if !is_empty {
            return Err(BackupError::NotEmpty { place: place(dir) });
        }
        let backed_up = self.back_up(&to).await;
        if backed_up.is_err() {
            empty(dir);
        }
        Ok(backed_up?)
    }

    async fn back_up(&self, to: &DataFolder) -> Result<BackupReport, StoreError> {
        let mut tried = 1;
        let copied = loop {
            let (path, target) = (to.database(), to.clone());
            let copied = self.readers.with(move |reading| copy(reading, &path)).await?;
            let missing = copy_files(self.readers.files(), &target, &copied.files)?;
            // A file that is missing every time was missing before: the session that refers to it fails verification.
            if missing == 0 || tried == TRIES {
                break copied;
            }
            tried += 1;
            empty(&to.0);
        };
        let loss = self.loss();
        note(to, copied.count, loss.as_ref())?;
        let audit = audit_file(&to.0);
        if let Some(copy) = private::copy(&audit_file(self.readers.files().data()), &audit)? {
            copy.sync_all().map_err(|error| StoreError::of_io(&audit, &error))?;
        }
        sync(&to.0).map_err(|error| StoreError::of_io(&to.0, &error))?;
        verified(to, loss).await
    }
}

/// Copies a snapshot of the database to `path`.
fn copy(reading: &ReadSnapshot<'_>, path: &Path) -> Result<CopiedDatabase, StoreError> {
    let fault = |error: rusqlite::Error| meaning(path, &error);
    private::file().create_new(true).open(path).map_err(|error| StoreError::of_io(path, &error))?;
    let mut target = Connection::open(path).map_err(fault)?;
    let done = {
        let backup = Backup::new(reading.connection(), &mut target).map_err(fault)?;
        backup.step(-1).map_err(fault)?
    };
    if done != StepResult::Done {
        return Err(StoreError::Locked { place: place(path), holder: "another program".into() });
    }
    let count = CommitCount::of(&target).map_err(fault)?;
    let files = target
        .prepare("SELECT hash FROM blobs WHERE bytes IS NULL")
        .and_then(|mut statement| statement.query_map([], |row| Ok(Hash(row.get(0)?)))?.collect())
        .map_err(fault)?;
    target.close().map_err(|(_, error)| fault(error))?;
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| StoreError::of_io(path, &error))?;
    Ok(CopiedDatabase { count, files })
}

/// Copies large blobs; returns how many are missing.
fn copy_files(from: &BlobFiles, to: &DataFolder, hashes: &[Hash]) -> Result<usize, StoreError> {
    let target = BlobFiles::new(to);
    let mut missing = 0;
    for hash in hashes {
        match from.read(*hash)? {
            Some(content) => target.keep(&[(*hash, content)])?,
            None => missing += 1,
        }
    }
    Ok(missing)
}

/// Writes the commit count of the copy; for a folder that lost commits, the count before the loss.
fn note(to: &DataFolder, count: CommitCount, loss: Option<&Loss>) -> Result<(), StoreError> {
    let missing = loss.and_then(|loss| loss.missing).unwrap_or_default();
    CommitCounter::open(to, CommitCount { commits: count.commits + missing, ..count }, None).map(drop)
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()?;
    folder.parent().map_or(Ok(()), |parent| match File::open(parent) {
        Ok(parent) => parent.sync_all(),
        // The folder name may be relative, with no parent to open.
        Err(_) => Ok(()),
    })
}

/// Opens the copy and verifies every journal in it.
async fn verified(to: &DataFolder, loss: Option<Loss>) -> Result<BackupReport, StoreError> {
    let store = SqliteStore::open(&to.0, SqliteOptions::default())?;
    let mut holds = BackupReport { loss, bytes: size(&to.0).unwrap_or_default(), ..BackupReport::default() };
    holds.inconsistent = store.check().await?;
    let sessions: Vec<(SessionId, String)> = store.readers.with(|reading| reading.all_sessions()).await?;
    for (session, key) in sessions {
        holds.sessions += 1;
        match verify(&store, session).await {
            Ok(verified) => holds.records += verified.records,
            Err(VerifyError::Break(broken)) => holds.broken.push((key, broken)),
            // Nobody removes anything from the copy: an index hides its batches, which `inconsistent` reports.
            Err(VerifyError::Store(StoreError::Missing)) => {}
            Err(VerifyError::Store(error)) => return Err(error),
        }
    }
    Ok(holds)
}

/// Total bytes of all files below a folder.
fn size(folder: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.metadata()?;
        total += if found.is_dir() { size(&entry.path())? } else { found.len() };
    }
    Ok(total)
}

/// Deletes everything that was written to a folder that was empty before.
fn empty(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path: PathBuf = entry.path();
        // The caller reports the failed backup; a leftover file needs no error of its own.
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
}
