//! Sessions as ranges of the file `claims`, locked for this open file. No session leaves a file behind, and a
//! thousand can be taken without making one.
//!
//! A range begins where its session says and is as long as its holder's process id, which is how others learn it.
//! ```text
//! 0 | 41 bits of the session's id | 22 bits for the length |
//! ```
//! Ranges are too far apart to touch: the system would make one of two that do.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_UNLCK, F_WRLCK, SEEK_SET, c_int, flock};
use windlass_vocab::SessionId;

use super::Refused;
use crate::sqlite::presence::place;
use crate::sqlite::{Folder, private};

/// No process id of Linux needs more.
const LENGTH_BITS: u32 = 22;
const SESSION_BITS: u32 = 41;

/// What the file holds once a session was claimed.
const SENTENCE: &str = "Sessions are claimed by locks on ranges of this file.\n";

/// The file and the ranges this store has locked. An open file's locks do not keep itself out.
#[derive(Debug)]
pub(super) struct Locks {
    path: PathBuf,
    file: File,
    place: (u64, u64),
    starts: Mutex<HashSet<i64>>,
}

impl Locks {
    pub(super) fn open(folder: &Folder) -> io::Result<Self> {
        let path = folder.claims();
        let file = private::lock_file(&path)?;
        Ok(Self { place: place(&file.metadata()?), path, file, starts: Mutex::default() })
    }

    pub(super) fn take(&self, session: SessionId) -> Result<(), Refused> {
        let (start, own) = (start(session), std::process::id());
        let mut starts = self.starts();
        if starts.contains(&start) {
            return Err(Refused::Held(Some(own)));
        }
        self.mark().map_err(Refused::Failed)?;
        let ours = range(F_WRLCK, start, i64::from(own));
        while let Err(error) = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&ours)) {
            if !matches!(error, Errno::EAGAIN | Errno::EACCES) {
                return Err(Refused::Failed(error.into()));
            }
            if let Some(process) = self.holder(ours)? {
                return Err(Refused::Held(u32::try_from(process).ok()));
            }
        }
        starts.insert(start);
        Ok(())
    }

    /// How long the range is that is in the way of `wanted`; none when it is free by now.
    fn holder(&self, mut wanted: flock) -> Result<Option<i64>, Refused> {
        fcntl(&self.file, FcntlArg::F_OFD_GETLK(&mut wanted)).map_err(|error| Refused::Failed(error.into()))?;
        Ok((c_int::from(wanted.l_type) != F_UNLCK).then_some(wanted.l_len))
    }

    pub(super) fn free(&self, session: SessionId) {
        let start = start(session);
        let mut starts = self.starts();
        // It is freed with the file at the latest.
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&range(F_UNLCK, start, 1 << LENGTH_BITS)));
        starts.remove(&start);
    }

    /// Has the file tell that a session was claimed. One that is not there any more keeps nobody out.
    fn mark(&self) -> io::Result<()> {
        let found = fs::metadata(&self.path)?;
        if place(&found) != self.place {
            return Err(io::ErrorKind::NotFound.into());
        }
        if found.size() == 0 { (&self.file).write_all(SENTENCE.as_bytes()) } else { Ok(()) }
    }

    pub(super) fn were_taken(folder: &Folder) -> io::Result<bool> {
        match fs::metadata(folder.claims()) {
            Ok(file) => Ok(file.size() > 0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn starts(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.starts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the range of `session` begins. Two sessions in use share a place once in two million million times; the
/// second is then called busy.
fn start(session: SessionId) -> i64 {
    let digest = blake3::hash(session.0.as_bytes());
    let (head, _) = digest.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
    (i64::from_le_bytes(*head) & ((1 << SESSION_BITS) - 1)) << LENGTH_BITS
}

fn range(kind: c_int, start: i64, length: i64) -> flock {
    flock { l_type: kind as i16, l_whence: SEEK_SET as i16, l_start: start, l_len: length, l_pid: 0 }
}
