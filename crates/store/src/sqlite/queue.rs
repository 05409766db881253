//! The lock that all writers of a data folder queue at: an advisory lock on the folder itself, which has no name of
//! its own that could be removed. It is held for a commit, which takes milliseconds; a process that was stopped
//! meanwhile (Ctrl-Z) keeps it, so nobody waits for ever.
//!
//! It makes the queue a fair one and nothing else: what keeps two processes from writing at once is the lock that
//! SQLite takes in `BEGIN IMMEDIATE`. Where a file system has no such locks, SQLite's busy handler is all there is.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::StoreError;
use crate::error::place;

/// What no queue of writers takes, however slow the disk.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// The locks of this machine, a line each: `1: FLOCK  ADVISORY  WRITE 1234 fe:00:56789 0 EOF`, where 1234 is a
/// process and 56789 the number of a file on its disk.
const LOCKS: &str = "/proc/locks";

/// Whether a commit may wait for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitPatience {
    /// It waits in the queue.
    Wait,
    /// It gives up when another process is writing.
    No,
}

/// Where the lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockHolder {
    /// By who asked.
    Here,
    /// By another process.
    Elsewhere,
}

/// The lock, free.
#[derive(Debug)]
pub(super) struct WriteLock {
    file: File,
    path: PathBuf,
}

impl WriteLock {
    /// The queue at the folder or file `path`, which must be there.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|error| StoreError::of_io(path, &error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Enters it. Who waits either is at its head then or is told why not.
    pub(super) fn enter(&mut self, patience: CommitPatience) -> Result<LockHolder, StoreError> {
        match (self.file.try_lock(), patience) {
            // A file system without such locks has no queue: SQLite's own lock decides.
            (Ok(()) | Err(TryLockError::Error(_)), _) => Ok(LockHolder::Here),
            (Err(TryLockError::WouldBlock), CommitPatience::No) => Ok(LockHolder::Elsewhere),
            (Err(TryLockError::WouldBlock), CommitPatience::Wait) => self.wait(LONGEST),
        }
    }

    /// Waits in the queue, on a thread that can be left behind: nothing calls it back. It opens the folder anew, so
    /// that a lock that comes too late is dropped with it.
    fn wait(&mut self, longest: Duration) -> Result<LockHolder, StoreError> {
        let fault = |error: io::Error| StoreError::of_io(&self.path, &error);
        let file = File::open(&self.path).map_err(fault)?;
        let (had, taken) = mpsc::channel();
        let queue = move || {
            let locked = lock(&file);
            // Where nobody waits any more it is dropped.
            let _ = had.send(locked.map(|()| file));
        };
        thread::Builder::new().name("windlass-queue".into()).spawn(queue).map_err(fault)?;
        match taken.recv_timeout(longest) {
            Ok(file) => self.file = file.map_err(fault)?,
            Err(_) => return Err(StoreError::Locked { place: place(&self.path), holder: self.holder() }),
        }
        Ok(LockHolder::Here)
    }

    /// Who has it, as far as the system tells.
    fn holder(&self) -> String {
        let locks = fs::read_to_string(LOCKS).unwrap_or_default();
        let process = self.file.metadata().ok().and_then(|file| process_in(&locks, file.ino()));
        process.map_or("another process".into(), |process| format!("process {process}"))
    }

    /// Leaves it.
    pub(super) fn leave(&self) {
        // It is freed with the file at the latest.
        let _ = self.file.unlock();
    }
}

/// Waits for it, however long.
fn lock(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            locked => return locked,
        }
    }
}

/// The process that has locked the whole file of this number.
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
        // The thread that was left behind may have it for a moment.
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
