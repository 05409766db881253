//! The file lock that all writers of a data folder queue at. It is held for a commit, which takes milliseconds; a
//! process that was stopped meanwhile (Ctrl-Z) keeps it, so nobody waits for ever.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::private;
use crate::StoreError;

/// What no queue of writers takes, however slow the disk.
const LONGEST: Duration = Duration::from_secs(30);

/// The locks of this machine, a line each: `1: FLOCK  ADVISORY  WRITE 1234 fe:00:56789 0 EOF`, where 1234 is a
/// process and 56789 the number of a file on its disk.
const LOCKS: &str = "/proc/locks";

/// Whether a commit may wait for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It waits for the file lock.
    Wait,
    /// It gives up when another process holds the file lock.
    No,
}

/// Where the lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
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
    /// Makes the file where it is missing.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = private::lock_file(path).map_err(|error| StoreError::of_io(path, &error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Takes it. Who waits either has it then or is told why not.
    pub(super) fn take(&mut self, patience: Patience) -> Result<Held, StoreError> {
        match (self.file.try_lock(), patience) {
            (Ok(()), _) => Ok(Held::Here),
            (Err(TryLockError::WouldBlock), Patience::No) => Ok(Held::Elsewhere),
            (Err(TryLockError::WouldBlock), Patience::Wait) => self.wait(LONGEST),
            (Err(TryLockError::Error(error)), _) => Err(StoreError::of_io(&self.path, &error)),
        }
    }

    /// Waits in the queue, on a thread that can be left behind: nothing calls it back. It has a file of its own, so
    /// that a lock that comes too late goes with it.
    fn wait(&mut self, longest: Duration) -> Result<Held, StoreError> {
        let fault = |error: io::Error| StoreError::of_io(&self.path, &error);
        let file = private::lock_file(&self.path).map_err(fault)?;
        let (had, taken) = mpsc::channel();
        let queue = move || {
            let locked = lock(&file);
            // Where nobody waits any more it is dropped.
            let _ = had.send(locked.map(|()| file));
        };
        thread::Builder::new().name("windlass-queue".into()).spawn(queue).map_err(fault)?;
        match taken.recv_timeout(longest) {
            Ok(file) => self.file = file.map_err(fault)?,
            Err(_) => return Err(StoreError::Locked { path: self.path.clone(), holder: self.holder() }),
        }
        Ok(Held::Here)
    }

    /// Who has it, as far as the system tells.
    fn holder(&self) -> String {
        let locks = fs::read_to_string(LOCKS).unwrap_or_default();
        let process = self.file.metadata().ok().and_then(|file| process_in(&locks, file.ino()));
        process.map_or("another process".into(), |process| format!("process {process}"))
    }

    /// A file that was removed locks nobody out: makes it again, where everybody will come to it, and takes it.
    pub(super) fn renew(&mut self) -> Result<(), StoreError> {
        // It may be the new one already: who waited has opened it anew.
        self.release();
        self.file = private::lock_file(&self.path).map_err(|error| StoreError::of_io(&self.path, &error))?;
        self.take(Patience::Wait).map(drop)
    }

    /// Frees it.
    pub(super) fn release(&self) {
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
        let open = || WriteLock::open(&dir.path().join("lock")).unwrap();
        let (one, other) = (open(), open());
        (dir, one, other)
    }

    #[test]
    fn who_waits_gets_it_when_it_is_freed() {
        let (_dir, mut one, mut other) = two();
        one.take(Patience::Wait).unwrap();
        assert_eq!(other.take(Patience::No), Ok(Held::Elsewhere));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                other.take(Patience::Wait).unwrap();
                other.release();
            });
            one.release();
            waiting.join().unwrap();
        });
        assert_eq!(one.take(Patience::No), Ok(Held::Here));
    }

    #[test]
    fn nobody_waits_for_ever_and_who_gave_up_keeps_nobody_out() {
        // proves J9
        let (_dir, mut one, mut other) = two();
        one.take(Patience::Wait).unwrap();
        let gave_up = other.wait(Duration::from_millis(1)).unwrap_err();
        if cfg!(target_os = "linux") {
            let own = format!("kept locked by process {}", std::process::id());
            assert!(gave_up.to_string().contains(&own), "{gave_up}");
        }
        one.release();
        // The thread that was left behind may have it for a moment.
        one.take(Patience::Wait).unwrap();
        one.release();
        other.take(Patience::Wait).unwrap();
    }

    #[test]
    fn a_lock_whose_file_was_removed_is_made_again_with_whoever_waits() {
        let (dir, mut one, mut other) = two();
        one.take(Patience::Wait).unwrap();
        fs::remove_file(dir.path().join("lock")).unwrap();
        one.renew().unwrap();
        assert_eq!(other.take(Patience::No), Ok(Held::Here), "it has the removed file still");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| other.renew().unwrap());
            one.release();
            waiting.join().unwrap();
        });
        assert_eq!(one.take(Patience::No), Ok(Held::Elsewhere));
    }

    #[test]
    fn the_holder_is_found_by_the_number_of_the_file() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:42 0 EOF\n2: FLOCK  ADVISORY  WRITE 8 fe:00:41 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 9 fe:00:42 0 EOF\n3: FLOCK  ADVISORY  WRITE 10 fe:00:42 0 EOF\n";
        assert_eq!(process_in(locks, 42), Some(10));
        assert_eq!(process_in(locks, 43), None);
    }
}
