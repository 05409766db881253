//! Claims a session with an OS lock, which is released when the lease is dropped, and by the system when the process
//! dies. If a session is already claimed, the error names the process that holds it.
//!
//! On Linux these are locks on ranges of the database file (`ranges`); elsewhere on one file per session (`files`).

#[cfg(any(test, not(all(target_os = "linux", target_pointer_width = "64"))))]
mod files;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod ranges;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_vocab::SessionId;

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
use self::files::Locks;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use self::ranges::Locks;
use super::folder::DataFolder;
use crate::error::place;
use crate::{Head, Lease, LeaseHolder, SessionHolder, StoreError};

/// How many sessions this process has claimed in one store.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnedCount(Arc<AtomicUsize>);

impl OwnedCount {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

/// Why a session can't be claimed.
enum ClaimRefusal {
    /// A process holds it; its id, if known.
    Held(Option<u32>),
    Failed(io::Error),
}

/// The sessions claimed through one store.
#[derive(Debug)]
pub(super) struct Claims {
    folder: DataFolder,
    locks: Arc<Locks>,
    owned: OwnedCount,
    holders: Holders,
}

/// Senders that report lost leases.
type Holders = Arc<Mutex<HashMap<SessionId, LeaseHolder>>>;

impl Claims {
    pub(super) fn open(folder: DataFolder, owned: OwnedCount) -> Result<Self, StoreError> {
        let locks = Locks::open(&folder).map_err(|error| StoreError::of_io(&Locks::path(&folder), &error))?;
        Ok(Self { folder, locks: Arc::new(locks), owned, holders: Holders::default() })
    }

    /// Claims the session; an error names its holder.
    pub(super) fn claim(&self, session: SessionId) -> Result<SessionClaim, StoreError> {
        match self.locks.take(session) {
            Ok(()) => {
                self.owned.0.fetch_add(1, Ordering::AcqRel);
                let (locks, owned, holders) = (Arc::clone(&self.locks), self.owned.clone(), Arc::clone(&self.holders));
                Ok(SessionClaim { locks, owned, holders, session })
            }
            Err(ClaimRefusal::Held(Some(process))) => Err(StoreError::Busy { holder: format!("process {process}") }),
            Err(ClaimRefusal::Held(None)) => Err(StoreError::Busy { holder: "another process".into() }),
            Err(ClaimRefusal::Failed(error)) => Err(self.failed(&error)),
        }
    }

    /// The lease of a claimed session whose journal ends in `head`.
    pub(super) fn lease(&self, hold: SessionClaim, head: Head) -> Lease {
        let session = hold.session;
        let (lease, holder) = Lease::new(session, head, hold);
        holders(&self.holders).insert(session, holder);
        lease
    }

    /// Reports that another process has written to a session. Does nothing if the session is not claimed here.
    pub(super) fn lose(&self, session: SessionId) {
        if let Some(holder) = holders(&self.holders).get(&session) {
            holder.lose();
        }
    }

    pub(super) fn holder(&self, session: SessionId) -> Result<Option<SessionHolder>, StoreError> {
        match self.locks.look(session) {
            Ok(()) => Ok(None),
            Err(ClaimRefusal::Held(process)) => Ok(Some(SessionHolder { process })),
            Err(ClaimRefusal::Failed(error)) => Err(self.failed(&error)),
        }
    }

    fn failed(&self, error: &io::Error) -> StoreError {
        if self.folder.database().exists() {
            return StoreError::of_io(&Locks::path(&self.folder), error);
        }
        // The lock file was removed together with the database.
        StoreError::Gone { place: place(&self.folder.database()) }
    }
}

/// Who holds the session, in a folder where no file can be created.
pub(super) fn holder(folder: &DataFolder, session: SessionId) -> Result<Option<SessionHolder>, StoreError> {
    match Locks::look_at(folder, session) {
        Ok(()) => Ok(None),
        Err(ClaimRefusal::Held(process)) => Ok(Some(SessionHolder { process })),
        Err(ClaimRefusal::Failed(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(ClaimRefusal::Failed(error)) => Err(StoreError::of_io(&Locks::path(folder), &error)),
    }
}

/// Whether a session was ever claimed in this folder, judged by leftover lock files (earlier versions created one on
/// every system): then a database must have existed.
pub(super) fn were_made(folder: &DataFolder) -> io::Result<bool> {
    let missing_is = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(false),
        _ => Err(error),
    };
    let by_range = fs::metadata(folder.claims()).map(|file| file.len() > 0).or_else(missing_is)?;
    let by_file = fs::read_dir(folder.locks()).map(|mut files| files.next().is_some()).or_else(missing_is)?;
    Ok(by_range || by_file)
}

/// The claim that a lease holds; dropping it releases the session.
pub(super) struct SessionClaim {
    locks: Arc<Locks>,
    owned: OwnedCount,
    holders: Holders,
    session: SessionId,
}

fn holders(holders: &Holders) -> MutexGuard<'_, HashMap<SessionId, LeaseHolder>> {
    holders.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for SessionClaim {
    fn drop(&mut self) {
        holders(&self.holders).remove(&self.session);
        self.locks.free(self.session);
        self.owned.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// The same test for each locking method.
    macro_rules! keeps_the_rules {
        ($way:ident) => {
            #[test]
            fn $way() {
                // proves J5
                let dir = tempfile::tempdir().unwrap();
                let folder = DataFolder(dir.path().to_owned());
                std::fs::write(folder.database(), "").unwrap();
                let open = || super::$way::Locks::open(&folder).unwrap();
                let (one, other, own) = (open(), open(), std::process::id());
                let session = |number| SessionId(Uuid::from_u128(number));
                let held = |refused| matches!(refused, Err(ClaimRefusal::Held(Some(process))) if process == own);
                assert!(super::$way::Locks::path(&folder).exists());
                assert!(one.look(session(1)).is_ok());
                assert!((0..500).all(|number| one.take(session(number)).is_ok()));
                for number in 0..500 {
                    assert!(held(one.take(session(number))), "{number} is taken twice by one store");
                    assert!(held(other.take(session(number))), "{number} is taken twice");
                    assert!(held(one.look(session(number))) && held(other.look(session(number))));
                }
                assert!(held(super::$way::Locks::look_at(&folder, session(1))));
                one.free(session(7));
                assert!(one.look(session(7)).is_ok() && other.look(session(7)).is_ok());
                assert!(other.take(session(7)).is_ok());
                assert!(held(one.take(session(7))));
                drop(one);
                assert!(other.take(session(8)).is_ok(), "a store that is gone holds a session");
            }
        };
    }

    keeps_the_rules!(files);
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    keeps_the_rules!(ranges);
}
