//! The paths in a data folder.

use std::path::PathBuf;

/// A data folder, and the paths of its files.
#[derive(Clone, Debug)]
pub(crate) struct DataFolder(pub(super) PathBuf);

impl DataFolder {
    pub(super) fn database(&self) -> PathBuf {
        self.0.join("windlass.db")
    }

    /// The write-ahead log of SQLite.
    pub(super) fn log(&self) -> PathBuf {
        self.0.join("windlass.db-wal")
    }

    /// The memory that processes using SQLite share as an index of the log.
    pub(super) fn shared_memory(&self) -> PathBuf {
        self.0.join("windlass.db-shm")
    }

    pub(super) fn commits(&self) -> PathBuf {
        self.0.join("commits")
    }

    /// The file whose ranges earlier versions locked to claim sessions.
    pub(super) fn claims(&self) -> PathBuf {
        self.0.join("claims")
    }

    pub(super) fn locks(&self) -> PathBuf {
        self.0.join("locks")
    }

    pub(super) fn blobs(&self) -> PathBuf {
        self.0.join("blobs")
    }
}
