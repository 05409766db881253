//! Errors of a store, each with advice on what a person can do about it.

use std::fmt;
use std::io;
use std::path::Path;

use windlass_vocab::SessionId;

/// Stored data that no longer exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// How many commits are missing, where that is known.
    pub missing: Option<u64>,
    /// How the loss was detected, and what may have caused it.
    pub why: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing {
            Some(1) => write!(f, "1 commit is missing: {}", self.why),
            Some(missing) => write!(f, "{missing} commits are missing: {}", self.why),
            None => write!(f, "commits may be missing: {}", self.why),
        }
    }
}

/// Why something was not stored or read. A failed write leaves nothing half-written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another batch has this batch's sequence number: another writer owns the session now (J5).
    #[error("another process took this session over; nothing was written, read the session again")]
    Conflict,
    /// Another holder has the session's lease.
    #[error("the session is in use by {holder}; wait until it is done, or stop it")]
    Busy {
        /// The holder, as far as known.
        holder: String,
    },
    /// The owner has another session with this key.
    #[error("the session key `{key}` is taken; choose another")]
    KeyTaken {
        /// The key.
        key: String,
    },
    /// There is no such session.
    #[error("there is no such session")]
    Missing,
    /// An import would overwrite an existing session.
    #[error("session {session} is here already; remove it first to bring it in again")]
    Exists {
        /// The existing session.
        session: SessionId,
    },
    /// The disk is full.
    #[error("the disk is full, {place} was not written; free some space and try again")]
    Full {
        /// The file or folder that could not grow.
        place: String,
    },
    /// The store can be read but not written.
    #[error("{place} can't be written; make the folder and its files writable, or choose another data folder")]
    ReadOnly {
        /// The file or folder that can't be written.
        place: String,
    },
    /// The store does not answer, and may not have received the request.
    #[error(
        "the store can't be reached: {why}; see that it is well and open the session again: it goes on from what was stored"
    )]
    Unavailable {
        /// The known cause.
        why: String,
    },
    /// The journal of one session was damaged. Other sessions are not affected.
    #[error("the journal of session {session} breaks at record {seq}: {what}")]
    Broken {
        /// The damaged session.
        session: SessionId,
        /// The record, by the number it has or should have.
        seq: u64,
        /// The damage.
        what: String,
    },
    /// The data read differs from the data written.
    #[error("{what}; restore the data folder from a copy, or choose another")]
    Damaged {
        /// Where the damage is, and of which kind.
        what: String,
    },
    /// The newest stored data is missing. The rest can be read; nothing is written after it.
    #[error("{0}. What is there can be read, and nothing is written behind it")]
    Lost(Loss),
    /// The database was deleted or moved while it was in use.
    #[error(
        "{place} is gone: it was removed or moved away while Windlass worked. The journal is lost with it: what was \
         done since then is done, and can't be shown, resumed or undone from here. Put the data folder back, or \
         begin anew"
    )]
    Gone {
        /// The file or folder that is gone.
        place: String,
    },
    /// The database path holds a file that Windlass did not write.
    #[error(
        "{place} is not a database that Windlass wrote; move it away (or restore it, if it was one), \
         or choose another data folder"
    )]
    Foreign {
        /// The file or folder found there.
        place: String,
    },
    /// Written by a later version.
    #[error("this was written by a newer version of Windlass (format {found}); use that version or a later one")]
    Newer {
        /// The format version found.
        found: u32,
    },
    /// Another process holds the write lock for longer than a write takes.
    #[error("{place} is kept locked by {holder}; let that go on (`fg`) or end it, then try again")]
    Locked {
        /// The locked file.
        place: String,
        /// The process that holds the lock, as far as known.
        holder: String,
    },
    /// The operating system reported another error.
    #[error("{place}: {why}; see that the disk is well, then try again")]
    Io {
        /// The file or folder concerned.
        place: String,
        /// The message of the operating system or the database.
        why: String,
    },
    /// A batch without records, or a record that can't be serialized to JSON.
    #[error("this batch can't be written down: {why}; please report it")]
    Unwritable {
        /// Why.
        why: String,
    },
    /// The store was shut down.
    #[error("the store is closed; open it again")]
    Closed,
}

impl StoreError {
    /// Maps a file system error at `path` to a store error.
    pub(crate) fn of_io(path: &Path, error: &io::Error) -> Self {
        let place = place(path);
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { place },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly { place },
            _ => Self::Io { place, why: error.to_string() },
        }
    }

    /// Whether this error was raised before anything was written, so that the rest of a transaction may go on.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::Conflict | Self::Busy { .. } | Self::KeyTaken { .. } | Self::Missing | Self::Exists { .. } => true,
            Self::Full { .. }
            | Self::ReadOnly { .. }
            | Self::Unavailable { .. }
            | Self::Broken { .. }
            | Self::Damaged { .. }
            | Self::Lost(_)
            | Self::Gone { .. }
            | Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::Locked { .. }
            | Self::Io { .. }
            | Self::Unwritable { .. }
            | Self::Closed => false,
        }
    }
}

/// A file or folder as text for an error message.
pub(crate) fn place(path: &Path) -> String {
    path.display().to_string()
}

/// Why an append did not return `Ok`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Not stored: another batch has its sequence number, so another writer owns the session now (J5).
    #[error("another process took this session over; nothing was written, read the session again")]
    Conflict,
    /// Perhaps stored. To find out, append the same batch again: the store returns `Ok` for a batch it already has.
    #[error("whether this was stored is not known: {why}")]
    Unknown {
        /// The known cause.
        why: String,
    },
    /// Not stored, for any other reason.
    #[error(transparent)]
    Refused(StoreError),
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Conflict,
            error => Self::Refused(error),
        }
    }
}

impl From<AppendError> for StoreError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Conflict => Self::Conflict,
            AppendError::Unknown { why } => Self::Unavailable { why },
            AppendError::Refused(error) => error,
        }
    }
}
