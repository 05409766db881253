//! The lock at which all writers of a data folder queue: an advisory lock on the folder itself, so there is no lock
//! file that could be removed. It is held during a commit, which takes milliseconds; a process that was suspended
//! meanwhile (Ctrl-Z) keeps it, so waiting has a time limit.
//!
//! The lock only makes the queue fair: concurrent writes are prevented by the lock that SQLite takes in
//! `BEGIN IMMEDIATE`. On a file system without such locks there is only SQLite's busy handler.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::StoreError;
use crate::error::place;

/// How long a writer waits in the queue: longer than any queue takes, however slow the disk.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// The file locks of this machine, one per line: `1: FLOCK  ADVISORY  WRITE 1234 fe:00:56789 0 EOF`, where 1234 is the
/// process id and 56789 the inode.
const LOCKS: &str = "/proc/locks";

/// Whether a commit may wait for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitPatience {
    /// It waits in the queue.
    Wait,
    /// It gives up when another process is writing.
    No,
}

/// Which process holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockHolder {
    /// This one.
    Here,
    /// Another process.
    Elsewhere,
}

/// The write lock of a data folder.
#[derive(Debug)]
pub(super) struct WriteLock {
    file: File,
    path: PathBuf,
}

impl WriteLock {
    /// Opens the queue at the folder or file `path`, which must exist.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|error| StoreError::of_io(path, &error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Takes the lock. With [`CommitPatience::Wait`], returns when it is held, or with an error.
    pub(super) fn enter(&mut self, patience: CommitPatience) -> Result<LockHolder, StoreError> {
        match (self.file.try_lock(), patience) {
            // On a file system without such locks there is no queue: SQLite's own lock decides.
            (Ok(()) | Err(TryLockError::Error(_)), _) => Ok(LockHolder::Here),
            (Err(TryLockError::WouldBlock), CommitPatience::No) => Ok(LockHolder::Elsewhere),
            (Err(TryLockError::WouldBlock), CommitPatience::Wait) => self.wait(LONGEST),
        }
    }

    /// Waits in the queue, on a separate thread, because a blocking lock call can't be cancelled. The thread opens the
    /// folder again, so that a lock that is granted too late is dropped with that descriptor.
    fn wait(&mut self, longest: Duration) -> Result<LockHolder, StoreError> {
        let fault = |error: io::Error| StoreError::of_io(&self.path, &error);
        let file = File::open(&self.path).map_err(fault)?;
        let (had, taken) = mpsc::channel();
        let queue = move || {
            let locked = lock(&file);
            // If the waiter gave up, this drops the lock.
            let _ = had.send(locked.map(|()| file));
        };
        thread::Builder::new().name("windlass-queue".into()).spawn(queue).map_err(fault)?;
        match taken.recv_timeout(longest) {
            Ok(file) => self.file = file.map_err(fault)?,
            Err(_) => return Err(StoreError::Locked { place: place(&self.path), holder: self.holder() }),
        }
        Ok(LockHolder::Here)
    }

    /// The process that holds the lock, as far as the system reports it.
    fn holder(&self) -> String {
        let locks = fs::read_to_string(LOCKS).unwrap_or_default();
        let process = self.file.metadata().ok().and_then(|file| process_in(&locks, file.ino()));
        process.map_or("another process".into(), |process| format!("process {process}"))
    }

    /// Releases the lock.
    pub(super) fn leave(&self) {
        // If this fails, closing the file releases it.
        let _ = self.file.unlock();
    }
}

/// Waits for the lock without a time limit.
fn lock(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            locked => return locked,
        }
    }
}

/// The process that has locked the whole file with this inode.
fn process_in(locks: &str, file: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, place, ..] = words[..] else { return None };
        let number = place.rsplit(':').next()?;
        (number.parse() == Ok(file)).then(|| process.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (tempfile::TempDir, WriteLock, WriteLock) {
        let dir = tempfile::tempdir().unwrap();
        let open = || WriteLock::open(dir.path()).unwrap();
        let (one, other) = (open(), open());
        (dir, one, other)
    }

    #[test]
    fn who_waits_gets_it_when_it_is_freed() {
        let (_dir, mut one, mut other) = two();
        one.enter(CommitPatience::Wait).unwrap();
        assert_eq!(other.enter(CommitPatience::No), Ok(LockHolder::Elsewhere));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                other.enter(CommitPatience::Wait).unwrap();
                other.leave();
            });
            one.leave();
            waiting.join().unwrap();
        });
        assert_eq!(one.enter(CommitPatience::No), Ok(LockHolder::Here));
    }

    #[test]
    fn nobody_waits_for_ever_and_who_gave_up_keeps_nobody_out() {
        // proves J9
        let (_dir, mut one, mut other) = two();
        one.enter(CommitPatience::Wait).unwrap();
        let gave_up = other.wait(Duration::from_millis(1)).unwrap_err();
        if cfg!(target_os = "linux") {
            let own = format!("kept locked by process {}", std::process::id());
            assert!(gave_up.to_string().contains(&own), "{gave_up}");
        }
        one.leave();
        // The abandoned thread may hold the lock for a moment.
        one.enter(CommitPatience::Wait).unwrap();
        one.leave();
        other.enter(CommitPatience::Wait).unwrap();
    }

    #[test]
    fn the_holder_is_found_by_the_number_of_the_file() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:42 0 EOF\n2: FLOCK  ADVISORY  WRITE 8 fe:00:41 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 9 fe:00:42 0 EOF\n3: FLOCK  ADVISORY  WRITE 10 fe:00:42 0 EOF\n";
        assert_eq!(process_in(locks, 42), Some(10));
        assert_eq!(process_in(locks, 43), None);
    }
}
