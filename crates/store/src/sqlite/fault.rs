//! What SQLite's errors mean.

use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use crate::StoreError;

/// What `error` means for the database at `path`.
pub(super) fn meaning(path: &Path, error: &Error) -> StoreError {
    let path = path.to_owned();
    let Error::SqliteFailure(failure, message) = error else {
        return StoreError::Damaged { what: format!("{} holds what it should not: {error}", path.display()) };
    };
    let why = message.clone().unwrap_or_else(|| failure.to_string());
    match (failure.code, failure.extended_code) {
        // The shared-memory file can't grow: SQLite gives this its own code, not that of a full disk.
        (ErrorCode::DiskFull, _) | (_, ffi::SQLITE_IOERR_SHMSIZE) => StoreError::Full { path },
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => StoreError::ReadOnly { path },
        (ErrorCode::NotADatabase, _) => StoreError::Foreign { path },
        (ErrorCode::DatabaseCorrupt, _) | (_, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS) => {
            StoreError::Damaged { what: format!("{} is damaged ({why})", path.display()) }
        }
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => {
            StoreError::Locked { path, holder: "another program".into() }
        }
        _ => StoreError::Io { path, why },
    }
}
