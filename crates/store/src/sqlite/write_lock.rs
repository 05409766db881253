//! The file lock that all writers of a data folder queue at.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::private;
use crate::StoreError;

/// Whether a commit may wait for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It waits for the file lock.
    Wait,
    /// It gives up when another process holds the file lock.
    No,
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

    /// Takes it.
    pub(super) fn take(&self, patience: Patience) -> Result<(), TryLockError> {
        match patience {
            Patience::No => self.file.try_lock(),
            Patience::Wait => loop {
                match self.file.lock() {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => return result.map_err(TryLockError::Error),
                }
            },
        }
    }

    /// A file that was removed locks nobody out: makes it again, where everybody will come to it, and takes it.
    pub(super) fn renew(&mut self) -> Result<(), StoreError> {
        let again = Self::open(&self.path)?;
        again.take(Patience::Wait).map_err(|error| self.fault(error))?;
        *self = again;
        Ok(())
    }

    /// What an error of taking it means.
    pub(super) fn fault(&self, error: TryLockError) -> StoreError {
        StoreError::of_io(&self.path, &error.into())
    }

    /// Frees it.
    pub(super) fn release(&self) {
        // It is freed with the file at the latest.
        let _ = self.file.unlock();
    }
}
