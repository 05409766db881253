//! Sessions as ranges of the file `claims`, locked for this open file. No session leaves a file behind, and a
//! thousand can be taken without making one.
//!
//! A range begins where its session says and is as long as its holder's process id, which is how others learn it.
//! ```text
//! 0 | 41 bits of a hash of the session's id | 22 bits for the length |
//! ```
//! Ranges are too far apart to touch: the system would make one of two that do.

use std::collections::HashMap;
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

/// How often a range is tried that is said to be locked while nobody has it.
const TRIES: usize = 100;

/// What the file holds once a session was claimed.
const SENTENCE: &str = "Sessions are claimed by locks on ranges of this file.\n";

/// The file and the ranges this store has locked.
#[derive(Debug)]
pub(super) struct Locks {
    folder: Folder,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    file: File,
    /// Where the ranges begin, and their sessions. An open file's locks do not keep itself out.
    starts: HashMap<i64, SessionId>,
    /// Sessions that others had locked when the file was made again.
    lost: Vec<SessionId>,
}

impl Locks {
    pub(super) fn path(folder: &Folder) -> PathBuf {
        folder.claims()
    }

    pub(super) fn open(folder: &Folder) -> io::Result<Self> {
        let held = Held { file: private::lock_file(&folder.claims())?, starts: HashMap::new(), lost: Vec::new() };
        Ok(Self { folder: folder.clone(), held: Mutex::new(held) })
    }

    pub(super) fn take(&self, session: SessionId) -> Result<(), Refused> {
        let mut held = self.held();
        held.look_for_file(&self.folder).and_then(|()| held.mark_used()).map_err(Refused::Failed)?;
        held.lock(session)
    }

    /// Says who has the session, taking nothing.
    pub(super) fn look(&self, session: SessionId) -> Result<(), Refused> {
        let mut held = self.held();
        held.look_for_file(&self.folder).map_err(Refused::Failed)?;
        held.is_free(start(session))
    }

    /// The same without a store of its own, in a file that need not be writable.
    pub(super) fn look_at(folder: &Folder, session: SessionId) -> Result<(), Refused> {
        let file = File::open(folder.claims()).map_err(Refused::Failed)?;
        Held { file, starts: HashMap::new(), lost: Vec::new() }.is_free(start(session))
    }

    /// Sessions that others have locked since the file was removed; each once.
    pub(super) fn take_lost(&self) -> Vec<SessionId> {
        std::mem::take(&mut self.held().lost)
    }

    pub(super) fn free(&self, session: SessionId) {
        self.held().unlock(start(session));
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// A file that was removed keeps nobody out: it is made again where everybody will come to it, beside the database.
    fn look_for_file(&mut self, folder: &Folder) -> io::Result<()> {
        let (own, found) = (self.file.metadata()?, fs::metadata(folder.claims()));
        if !found.is_ok_and(|found| place(&found) == place(&own)) {
            fs::metadata(folder.database())?;
            self.file = private::lock_file(&folder.claims())?;
            // Somebody else may have claimed what we had; whoever writes without a claim is fenced.
            for (start, session) in &self.starts {
                if fcntl(&self.file, FcntlArg::F_OFD_SETLK(&range(F_WRLCK, *start, own_length()))).is_err() {
                    self.lost.push(*session);
                }
            }
        }
        Ok(())
    }

    /// Has the file tell that a session was claimed.
    fn mark_used(&mut self) -> io::Result<()> {
        if self.file.metadata()?.size() == 0 { self.file.write_all(SENTENCE.as_bytes()) } else { Ok(()) }
    }

    fn lock(&mut self, session: SessionId) -> Result<(), Refused> {
        self.lock_range(start(session), session)
    }

    fn lock_range(&mut self, start: i64, session: SessionId) -> Result<(), Refused> {
        for _ in 0..TRIES {
            self.is_free(start)?;
            match fcntl(&self.file, FcntlArg::F_OFD_SETLK(&range(F_WRLCK, start, own_length()))) {
                Ok(_) => {
                    self.starts.insert(start, session);
                    return Ok(());
                }
                Err(Errno::EAGAIN | Errno::EACCES) => {}
                Err(error) => return Err(Refused::Failed(error.into())),
            }
        }
        Err(Refused::Held(None))
    }

    /// Whether nobody, this store included, has locked the range; or who has.
    fn is_free(&self, start: i64) -> Result<(), Refused> {
        if self.starts.contains_key(&start) {
            return Err(Refused::Held(Some(std::process::id())));
        }
        let mut found = range(F_WRLCK, start, own_length());
        fcntl(&self.file, FcntlArg::F_OFD_GETLK(&mut found)).map_err(|error| Refused::Failed(error.into()))?;
        if c_int::from(found.l_type) == F_UNLCK {
            return Ok(());
        }
        // Without a length it is no claim of ours but a lock on the whole file.
        Err(Refused::Held(u32::try_from(found.l_len).ok().filter(|process| *process > 0)))
    }

    fn unlock(&mut self, start: i64) {
        // It is freed with the file at the latest.
        let _ = fcntl(&self.file, FcntlArg::F_OFD_SETLK(&range(F_UNLCK, start, own_length())));
        self.starts.remove(&start);
    }
}

/// Where the range of `session` begins. Two sessions in use share a beginning once in two million million times; the
/// second is then called busy.
fn start(session: SessionId) -> i64 {
    let digest = blake3::hash(session.0.as_bytes());
    let (head, _) = digest.as_bytes().split_first_chunk().unwrap_or((&[0; 8], &[]));
    (i64::from_le_bytes(*head) & ((1 << SESSION_BITS) - 1)) << LENGTH_BITS
}

fn own_length() -> i64 {
    i64::from(std::process::id())
}

fn range(kind: c_int, start: i64, length: i64) -> flock {
    flock { l_type: kind as i16, l_whence: SEEK_SET as i16, l_start: start, l_len: length, l_pid: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a database, and two who claim sessions in it.
    fn two() -> (tempfile::TempDir, Locks, Locks) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder(dir.path().to_owned());
        fs::write(folder.database(), "").unwrap();
        let open = || Locks::open(&folder).unwrap();
        let (one, other) = (open(), open());
        (dir, one, other)
    }

    #[test]
    fn ranges_beside_each_other_are_taken_and_freed_alone() {
        let (_dir, one, other) = two();
        let (last, any) = ((1 << SESSION_BITS) - 1, SessionId(uuid::Uuid::nil()));
        let ranges = [0, 1, 2, last - 1, last].map(|place| place << LENGTH_BITS);
        assert!(ranges.iter().all(|start| one.held().lock_range(*start, any).is_ok()));
        one.held().unlock(ranges[1]);
        let free: Vec<bool> = ranges.iter().map(|start| other.held().lock_range(*start, any).is_ok()).collect();
        assert_eq!(free, [false, true, false, false, false]);
    }

    #[test]
    fn a_file_that_was_removed_is_made_again_with_all_claims() {
        let (dir, one, other) = two();
        let session = |number| SessionId(uuid::Uuid::from_u128(number));
        assert!(one.take(session(1)).is_ok());
        fs::remove_file(dir.path().join("claims")).unwrap();
        assert!(one.take(session(2)).is_ok());
        assert!(matches!(other.take(session(1)), Err(Refused::Held(Some(_)))));
        assert!(matches!(other.take(session(2)), Err(Refused::Held(Some(_)))));
        one.free(session(1));
        assert!(other.take(session(1)).is_ok());
    }
}
