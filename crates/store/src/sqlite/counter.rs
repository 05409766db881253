//! Detects lost commits. When a write-ahead log was damaged, truncated, removed or replaced by an older one, SQLite
//! treats it as a shorter log and reports nothing. So commits are counted twice: in the database, and, after the
//! commit, in the small file `commits` beside it, which is written without a sync. A database behind that file has lost
//! commits. A database ahead of it is fine: a process can die between the two writes.
//!
//! The count is the rowid of the last row of `batches` plus `other_commits`, the commits without a batch. So an append
//! changes no extra page for the count. The count never decreases: a removal adds the number of rows it deleted.
//!
//! ```text
//! "WLCOUNT1" | id of the database 16 | count 8, little endian | first bytes of a hash over the 32 before it 8
//! ```
//!
//! A file that is missing, empty or incomplete is ignored and written again.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rusqlite::Connection;

use super::db::Database;
use super::folder::DataFolder;
use super::presence::place;
use super::{blobs, claims, private, rows};
use crate::line::hash_of;
use crate::{Loss, StoreError};

const MAGIC: &[u8; 8] = b"WLCOUNT1";
const ID: usize = 16;
const COUNTED: usize = 32;
const LENGTH: usize = 40;

/// The id of a database and its number of commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommitCount {
    pub(super) store: [u8; ID],
    pub(super) commits: u64,
}

impl CommitCount {
    /// The count in the database.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        connection
            .prepare_cached("SELECT id, other_commits + (SELECT coalesce(max(rowid), 0) FROM batches) FROM store")?
            .query_row([], |row| Ok(Self { store: row.get(0)?, commits: rows::natural(row, 1)? }))
    }

    /// The count in the file beside the database; `None` if the file is unusable. To compare the two, read this one
    /// first, because the database may advance in between.
    pub(super) fn noted(folder: &DataFolder) -> Result<Option<Self>, StoreError> {
        match fs::read(folder.commits()) {
            Ok(bytes) => Ok(Self::read(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::of_io(&folder.commits(), &error)),
        }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let whole: &[u8; LENGTH] = bytes.first_chunk()?;
        let (counted, check) = whole.split_at(COUNTED);
        let fields = counted.strip_prefix(MAGIC)?;
        let (store, commits) = fields.split_first_chunk()?;
        let count = Self { store: *store, commits: u64::from_le_bytes(*commits.first_chunk()?) };
        (check_of(counted) == check).then_some(count)
    }

    fn bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (counted, check) = bytes.split_at_mut(COUNTED);
        counted[..MAGIC.len()].copy_from_slice(MAGIC);
        counted[MAGIC.len()..][..ID].copy_from_slice(&self.store);
        counted[MAGIC.len() + ID..].copy_from_slice(&self.commits.to_le_bytes());
        check.copy_from_slice(&check_of(counted));
        bytes
    }

    /// What the database lacks compared with `noted`; `None` if nothing.
    pub(super) fn behind(self, noted: Self) -> Option<Loss> {
        if self.store != noted.store {
            let why = "the database is not the one that was written in this folder last";
            return Some(Loss { missing: None, why: why.into() });
        }
        let missing = noted.commits.checked_sub(self.commits).filter(|missing| *missing > 0)?;
        let why = "the database is older than the last commit: its write-ahead log was removed, shortened or damaged, \
                   an older copy was put back, or power was lost before a commit reached the disk";
        Some(Loss { missing: Some(missing), why: why.into() })
    }
}

fn check_of(counted: &[u8]) -> [u8; LENGTH - COUNTED] {
    let hash = hash_of(counted).0;
    hash.first_chunk().copied().unwrap_or_default()
}

/// Whether commits are being counted, or some are lost.
#[derive(Debug)]
pub(super) enum CommitCounting {
    Counted(CommitCounter),
    /// The database is behind the count in the file: nothing is written.
    Lost(Loss, CommitCount),
}

impl CommitCounting {
    /// Compares the database with the count from the file.
    pub(super) fn begin(
        folder: &DataFolder,
        count: CommitCount,
        noted: Option<CommitCount>,
    ) -> Result<Self, StoreError> {
        let loss = match noted {
            Some(noted) => count.behind(noted).map(|loss| (loss, noted)),
            None if count.commits == 0 => empty_beside_used_files(folder)?.map(|loss| (loss, count)),
            None => None,
        };
        match loss {
            Some((loss, noted)) => Ok(Self::Lost(loss, noted)),
            None => Ok(Self::Counted(CommitCounter::open(folder, count, noted)?)),
        }
    }

    pub(super) fn loss(&self) -> Option<&Loss> {
        match self {
            Self::Counted(_) => None,
            Self::Lost(loss, _) => Some(loss),
        }
    }
}

/// The loss of a database without any commit and without a count file, beside files that only sessions leave.
fn empty_beside_used_files(folder: &DataFolder) -> Result<Option<Loss>, StoreError> {
    let claimed = claims::were_made(folder).map_err(|error| StoreError::of_io(&folder.claims(), &error))?;
    if !claimed && !blobs::were_made(folder) {
        return Ok(None);
    }
    let why = "the database is empty, and older than the claims or contents that sessions left beside it";
    Ok(Some(Loss { missing: None, why: why.into() }))
}

/// The count file, open for writing.
#[derive(Debug)]
pub(super) struct CommitCounter {
    file: File,
    folder: DataFolder,
    store: [u8; ID],
}

impl CommitCounter {
    /// Opens the file for a database that has lost nothing. An unusable file is written again.
    pub(super) fn open(
        folder: &DataFolder,
        count: CommitCount,
        noted: Option<CommitCount>,
    ) -> Result<Self, StoreError> {
        let counter = Self { file: file(folder)?, folder: folder.clone(), store: count.store };
        if noted.is_none() {
            counter.note(count.commits);
        }
        Ok(counter)
    }

    /// Writes the number of commits. If that fails, the file stays behind, and a loss may go undetected.
    pub(super) fn note(&self, commits: u64) {
        let _ = self.file.write_all_at(&CommitCount { store: self.store, commits }.bytes(), 0);
    }

    /// After a change in the folder, makes sure that the open file is still the one that later reads will open.
    pub(super) fn find_again(&mut self) -> Result<(), StoreError> {
        let path = self.folder.commits();
        let own = self.file.metadata().map_err(|error| StoreError::of_io(&path, &error))?;
        if !fs::metadata(&path).is_ok_and(|found| place(&found) == place(&own)) {
            self.file = file(&self.folder)?;
        }
        Ok(())
    }
}

fn file(folder: &DataFolder) -> Result<File, StoreError> {
    let path: PathBuf = folder.commits();
    private::lock_file(&path).map_err(|error| StoreError::of_io(&path, &error))
}

/// Counts a change without a batch, in the transaction that makes it.
pub(super) fn count_other<T>(db: &Database, change: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let before = CommitCount::of(&db.connection).map_err(db.fault())?.commits;
    let changes = db.connection.total_changes();
    let changed = change()?;
    if db.connection.total_changes() == changes {
        return Ok(changed);
    }
    let after = CommitCount::of(&db.connection).map_err(db.fault())?.commits;
    raise(db, after, before + 1)?;
    Ok(changed)
}

/// Raises the count from `now` to `to`, if it is lower.
pub(super) fn raise(db: &Database, now: u64, to: u64) -> Result<(), StoreError> {
    if let Some(by @ 1..) = to.checked_sub(now) {
        db.execute("UPDATE store SET other_commits = other_commits + ?1", [rows::integer(by)])?;
    }
    db.commits.set(Some(to.max(now)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CommitCount, LENGTH};

    proptest! {
        #[test]
        fn a_count_is_read_as_it_was_written_or_not_at_all(store: [u8; 16], commits: u64, at in 0..LENGTH, bit in 0..8u8) {
            let count = CommitCount { store, commits };
            let mut bytes = count.bytes();
            assert_eq!((bytes.len(), CommitCount::read(&bytes)), (LENGTH, Some(count)));
            bytes[at] ^= 1 << bit;
            assert_eq!(CommitCount::read(&bytes), None);
            assert_eq!(CommitCount::read(&bytes[..at]), None);
        }
    }
}
