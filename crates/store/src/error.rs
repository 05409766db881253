//! What a store can't do, and what a person can do about it.

use std::fmt;
use std::io;
use std::path::Path;

use windlass_vocab::SessionId;

/// What was stored and is not there any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// How many commits, where that is known.
    pub missing: Option<u64>,
    /// How that is known, and what may have happened.
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

/// Why something was not stored or read. Whatever failed left nothing half-written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The place of the batch is taken: another writer has the session now (J5).
    #[error("another process took this session over; nothing was written, read the session again")]
    Conflict,
    /// Somebody else holds the session.
    #[error("the session is in use by {holder}; wait until it is done, or stop it")]
    Busy {
        /// Who, as far as known.
        holder: String,
    },
    /// The owner has another session under this key.
    #[error("the session key `{key}` is taken; choose another")]
    KeyTaken {
        /// The key.
        key: String,
    },
    /// There is no such session.
    #[error("there is no such session")]
    Missing,
    /// An import would overwrite a session.
    #[error("session {session} is here already; remove it first to bring it in again")]
    Exists {
        /// Which.
        session: SessionId,
    },
    /// The disk is full.
    #[error("the disk is full, {place} was not written; free some space and try again")]
    Full {
        /// What could not grow, in words.
        place: String,
    },
    /// What is stored can be read at most.
    #[error("{place} can't be written; make the folder and its files writable, or choose another data folder")]
    ReadOnly {
        /// What can't be written, in words.
        place: String,
    },
    /// The store does not answer, or may not have heard.
    #[error(
        "the store can't be reached: {why}; see that it is well and open the session again: it goes on from what was stored"
    )]
    Unavailable {
        /// What is known.
        why: String,
    },
    /// One session is not what was written. Others are not concerned.
    #[error("the journal of session {session} breaks at record {seq}: {what}")]
    Broken {
        /// Which.
        session: SessionId,
        /// The record, by the number it has or should have.
        seq: u64,
        /// What is wrong with it.
        what: String,
    },
    /// What was read is not what was written.
    #[error("{what}; restore the data folder from a copy, or choose another")]
    Damaged {
        /// Where and how.
        what: String,
    },
    /// What was stored last is not there any more. What is there can be read; nothing is written behind it.
    #[error(
        "{0}. What is there can be read, and nothing is written behind it: restore the data folder from a backup, or \
         accept the loss"
    )]
    Lost(Loss),
    /// The database was removed while it was in use.
    #[error(
        "{place} is gone: it was removed or moved away while Windlass worked. The journal is lost with it: what was \
         done since then is done, and can't be shown, resumed or undone from here. Put the data folder back, or \
         begin anew"
    )]
    Gone {
        /// What was written to, in words.
        place: String,
    },
    /// A file of somebody else's stands where the database should.
    #[error(
        "{place} is not a database that Windlass wrote; move it away (or restore it, if it was one), \
         or choose another data folder"
    )]
    Foreign {
        /// What stands there, in words.
        place: String,
    },
    /// Written by a later version.
    #[error("this was written by a newer version of Windlass (format {found}); use that version or a later one")]
    Newer {
        /// The version found.
        found: u32,
    },
    /// Somebody keeps all others from writing, for longer than writing takes.
    #[error("{place} is kept locked by {holder}; let that go on (`fg`) or end it, then try again")]
    Locked {
        /// What, in words.
        place: String,
        /// Who, as far as known.
        holder: String,
    },
    /// The operating system says no, for another reason.
    #[error("{place}: {why}; see that the disk is well, then try again")]
    Io {
        /// Where, in words.
        place: String,
        /// What the system or the database said.
        why: String,
    },
    /// A batch without records, or a record that can't be written as JSON.
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
    /// What an error of the file system at `path` means.
    pub(crate) fn of_io(path: &Path, error: &io::Error) -> Self {
        let place = place(path);
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { place },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly { place },
            _ => Self::Io { place, why: error.to_string() },
        }
    }

    /// Whether this says no before anything was written, so that the rest of a transaction may go on.
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

/// A file or folder in words.
pub(crate) fn place(path: &Path) -> String {
    path.display().to_string()
}

/// Why an append did not answer `Ok`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// Not stored: the place of the batch is taken, another writer has the session now (J5).
    #[error("another process took this session over; nothing was written, read the session again")]
    Conflict,
    /// Perhaps stored. Whoever wants to know appends the very same batch again: one that is stored answers `Ok`.
    #[error("whether this was stored is not known: {why}")]
    Unknown {
        /// What is known.
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
