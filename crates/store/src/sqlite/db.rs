//! The write connection, and the mapping of its errors.

use std::cell::Cell;
use std::path::PathBuf;

use rusqlite::Connection;

use super::database_file::DatabaseFile;
use super::fault::meaning;
use super::tails::Tails;
use crate::{AppendError, StoreError};

/// The write connection.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) tails: Tails,
    /// The commit count after the current write (`counter`).
    pub(super) commits: Cell<Option<u64>>,
    path: PathBuf,
    /// Dropped after the connection, because fields are dropped in order.
    _file: DatabaseFile,
}

impl Database {
    /// Wraps a connection to the database at `path`, which is the file `file`.
    pub(super) fn new(connection: Connection, path: PathBuf, file: DatabaseFile) -> Self {
        Self { connection, tails: Tails::default(), commits: Cell::default(), path, _file: file }
    }

    /// Runs a statement.
    pub(super) fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
        self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).map_err(self.fault())
    }

    /// Runs `work` in its own transaction, which is rolled back if it fails.
    pub(super) fn transaction<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, AppendError> {
        let begun = self.execute("BEGIN IMMEDIATE", []).and_then(|_| work());
        let result = begun.map_err(AppendError::from).and_then(|output| {
            self.execute("COMMIT", []).map_err(of_commit)?;
            Ok(output)
        });
        if result.is_err() && !self.connection.is_autocommit() {
            // If this fails too, the next BEGIN reports it.
            let _ = self.execute("ROLLBACK", []);
        }
        result
    }

    /// Maps an error of this database.
    pub(super) fn fault(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| meaning(&self.path, &error)
    }
}

/// Maps an error of the committing step. After a disk error the outcome is unknown: the data may have reached the disk.
fn of_commit(error: StoreError) -> AppendError {
    match error {
        StoreError::Io { place, why } => AppendError::Unknown { why: format!("{place}: {why}") },
        error => error.into(),
    }
}
