//! Claims sessions by locking ranges of the database file, far behind its end, through this process's descriptor. The
//! lock is on the file it guards, so there is no lock file that could be removed. No session leaves a file behind, and
//! a thousand can be claimed without creating one.
//!
//! A range starts at an offset derived from the session; its length tells others the process id of its holder.
//! ```text
//! 0 | 1 | 40 bits of a hash of the session's id | 22 bits for the length |
//! ```
//! Ranges are too far apart to touch: the system would merge adjacent ones. SQLite's own locks are on bytes at 1 GiB.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_UNLCK, F_WRLCK, SEEK_SET, c_int, flock};
use windlass_vocab::SessionId;

use super::ClaimRefusal;
use crate::sqlite::database_file::{DatabaseFile, DatabaseHandle};
use crate::sqlite::folder::DataFolder;

/// No Linux process id needs more bits.
const LENGTH_BITS: u32 = 22;
const SESSION_BITS: u32 = 40;

/// Start of the first range: no database is that long.
const FIRST: i64 = 1 << (SESSION_BITS + LENGTH_BITS);

/// How often to try to lock a range that is reported as locked although nobody holds it.
const TRIES: usize = 100;

/// The ranges this store has locked.
#[derive(Debug)]
pub(super) struct Locks {
    path: PathBuf,
    database: DatabaseFile,
    own: Mutex<HashSet<i64>>,
}

impl Locks {
    pub(super) fn path(folder: &DataFolder) -> PathBuf {
        folder.database()
    }

    pub(super) fn open(folder: &DataFolder) -> io::Result<Self> {
        let path = Self::path(folder);
        Ok(Self { database: DatabaseFile::open(&path)?, path, own: Mutex::default() })
    }

    pub(super) fn take(&self, session: SessionId) -> Result<(), ClaimRefusal> {
        self.lock(self.database()?, start(session))
    }

    /// Returns an error with the holder if the session is claimed; locks nothing.
    pub(super) fn look(&self, session: SessionId) -> Result<(), ClaimRefusal> {
        let database = self.database()?;
        is_free(database, &database.locked(), start(session))
    }

    /// Like `look`, without an open store, in a file that need not be writable.
    pub(super) fn look_at(folder: &DataFolder, session: SessionId) -> Result<(), ClaimRefusal> {
        Self::open(folder).map_err(ClaimRefusal::Failed)?.look(session)
    }

    pub(super) fn free(&self, session: SessionId) {
        self.unlock(start(session));
    }

    fn own(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file to lock; an error if it is no longer at its path, where new processes would find another file.
    fn database(&self) -> Result<&DatabaseHandle, ClaimRefusal> {
        let database = self.database.handle().map_err(ClaimRefusal::Failed)?;
        if database.is_at(&self.path) {
            return Ok(database);
        }
        let gone = fs::metadata(&self.path).err();
        Err(ClaimRefusal::Failed(gone.unwrap_or_else(|| io::Error::other("another file has taken its place"))))
    }

    fn lock(&self, database: &DatabaseHandle, start: i64) -> Result<(), ClaimRefusal> {
        let mut locked = database.locked();
        for _ in 0..TRIES {
            is_free(database, &locked, start)?;
            match fcntl(&database.file, FcntlArg::F_OFD_SETLK(&range(F_WRLCK, start))) {
                Ok(_) => {
                    locked.insert(start);
                    self.own().insert(start);
                    return Ok(());
                }
                Err(Errno::EAGAIN | Errno::EACCES) => {}
                Err(error) => return Err(ClaimRefusal::Failed(error.into())),
            }
        }
        Err(ClaimRefusal::Held(None))
    }

    fn unlock(&self, start: i64) {
        if let Ok(database) = self.database.handle() {
            let mut locked = database.locked();
            // If this fails, the lock is released when the process ends.
            let _ = fcntl(&database.file, FcntlArg::F_OFD_SETLK(&range(F_UNLCK, start)));
            locked.remove(&start);
        }
        self.own().remove(&start);
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        let own = std::mem::take(&mut *self.own());
        own.into_iter().for_each(|start| self.unlock(start));
    }
}

/// Returns an error with the holder if any process, this one included, has locked the range.
fn is_free(database: &DatabaseHandle, locked: &HashSet<i64>, start: i64) -> Result<(), ClaimRefusal> {
    if locked.contains(&start) {
        return Err(ClaimRefusal::Held(Some(std::process::id())));
    }
    let mut found = range(F_WRLCK, start);
    fcntl(&database.file, FcntlArg::F_OFD_GETLK(&mut found)).map_err(|error| ClaimRefusal::Failed(error.into()))?;
    if c_int::from(found.l_type) == F_UNLCK {
        return Ok(());
    }
    // A length that is no process id belongs to a lock on the whole file, not to a claim.
    Err(ClaimRefusal::Held(u32::try_from(found.l_len).ok().filter(|process| *process > 0)))
}

/// Start of the range of `session`. Two sessions in use have the same start once in a million million times; the
/// second is then reported as busy.
fn start(session: SessionId) -> i64 {
    let digest = blake3::hash(session.0.as_bytes());
    let (head, _) = digest.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
    nth(i64::from_le_bytes(*head) & ((1 << SESSION_BITS) - 1))
}

/// Start of the range with this number.
const fn nth(number: i64) -> i64 {
    FIRST | (number << LENGTH_BITS)
}

/// A range as long as this process's id.
fn range(kind: c_int, start: i64) -> flock {
    let length = i64::from(std::process::id());
    flock { l_type: kind as i16, l_whence: SEEK_SET as i16, l_start: start, l_len: length, l_pid: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a database, and two `Locks` that claim sessions in it.
    fn two() -> (tempfile::TempDir, Locks, Locks) {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder(dir.path().to_owned());
        fs::write(folder.database(), "").unwrap();
        let open = || Locks::open(&folder).unwrap();
        let (one, other) = (open(), open());
        (dir, one, other)
    }

    #[test]
    fn ranges_beside_each_other_are_taken_and_freed_alone() {
        let (_dir, one, other) = two();
        let last = (1 << SESSION_BITS) - 1;
        let ranges = [0, 1, 2, last - 1, last].map(nth);
        let lock = |locks: &Locks, start| locks.lock(locks.database.handle().unwrap(), start).is_ok();
        assert!(ranges.iter().all(|start| lock(&one, *start)));
        one.unlock(ranges[1]);
        let free: Vec<bool> = ranges.iter().map(|start| lock(&other, *start)).collect();
        assert_eq!(free, [false, true, false, false, false]);
    }

    #[test]
    fn a_session_is_not_claimed_in_a_database_that_nobody_else_finds() {
        // proves J5
        let (dir, one, _) = two();
        let session = |number| SessionId(uuid::Uuid::from_u128(number));
        assert!(one.take(session(1)).is_ok());
        fs::remove_file(dir.path().join("windlass.db")).unwrap();
        assert!(matches!(one.take(session(2)), Err(ClaimRefusal::Failed(_))));
        fs::write(dir.path().join("windlass.db"), "").unwrap();
        assert!(matches!(one.take(session(2)), Err(ClaimRefusal::Failed(_))));
    }
}
