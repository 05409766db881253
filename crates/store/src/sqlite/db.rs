//! The connection that writes, and what its errors mean.

use std::cell::Cell;
use std::path::PathBuf;

use rusqlite::Connection;

use super::database_file::DatabaseFile;
use super::fault::meaning;
use super::tails::Tails;
use crate::{AppendError, StoreError};

/// The connection that writes.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) tails: Tails,
    /// The count of commits after what is being written (`counter`).
    pub(super) commits: Cell<Option<u64>>,
    path: PathBuf,
    /// Goes after the connection.
    _file: DatabaseFile,
}

impl Database {
    /// A connection to the database at `path`, which is the file `file`.
    pub(super) fn new(connection: Connection, path: PathBuf, file: DatabaseFile) -> Self {
        Self { connection, tails: Tails::default(), commits: Cell::default(), path, _file: file }
    }

    /// Runs a statement.
    pub(super) fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
        self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).map_err(self.fault())
    }

    /// Runs `work` in a transaction of its own, which is undone if it fails.
    pub(super) fn transaction<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, AppendError> {
        let begun = self.execute("BEGIN IMMEDIATE", []).and_then(|_| work());
        let result = begun.map_err(AppendError::from).and_then(|output| {
            self.execute("COMMIT", []).map_err(of_commit)?;
            Ok(output)
        });
        if result.is_err() && !self.connection.is_autocommit() {
            // Where this fails too, the next BEGIN says so.
            let _ = self.execute("ROLLBACK", []);
        }
        result
    }

    /// What an error of this database means.
    pub(super) fn fault(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| meaning(&self.path, &error)
    }
}

/// What an error of the step that commits means. Where the disk failed, what was written may be found there later.
pub(super) fn of_commit(error: StoreError) -> AppendError {
    match error {
        StoreError::Io { place, why } => AppendError::Unknown { why: format!("{place}: {why}") },
        error => error.into(),
    }
}
