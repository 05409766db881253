//! Maps SQLite's errors to store errors.

use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use crate::StoreError;
use crate::error::place;

/// The store error for `error` of the database at `path`.
pub(super) fn meaning(path: &Path, error: &Error) -> StoreError {
    let place = place(path);
    let Error::SqliteFailure(failure, message) = error else {
        return StoreError::Damaged { what: format!("{place} holds what it should not: {error}") };
    };
    let why = message.clone().unwrap_or_else(|| failure.to_string());
    match (failure.code, failure.extended_code) {
        // The shared-memory file can't grow: SQLite gives this its own code, not that of a full disk.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => StoreError::Full { place },
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => StoreError::ReadOnly { place },
        (ErrorCode::NotADatabase, _) => StoreError::Foreign { place },
        (ErrorCode::DatabaseCorrupt, _) | (_, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS) => {
            StoreError::Damaged { what: format!("{place} is damaged ({why})") }
        }
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => {
            StoreError::Locked { place, holder: "another program".into() }
        }
        _ => StoreError::Io { place, why },
    }
}
