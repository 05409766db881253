//! Owning a session through an OS lock on `locks/<session>`: freed when the lease is dropped, and by
//! the system when the process dies. The file names its holder, for those who find it locked.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_vocab::SessionId;

use super::{Folder, private};
use crate::{Lease, StoreError};

/// How many sessions this process owns in one store.
#[derive(Clone, Debug, Default)]
pub(super) struct Owned(Arc<AtomicUsize>);

impl Owned {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

/// A locked file. Unlocked by hand: a child process that was just forked may hold a copy of it.
struct Locked {
    file: File,
    owned: Owned,
}

impl Locked {
    fn new(file: File, owned: Owned) -> Self {
        owned.0.fetch_add(1, Ordering::AcqRel);
        Self { file, owned }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file frees the lock as well.
        let _ = self.file.unlock();
        self.owned.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn lock_file(folder: &Folder, session: SessionId) -> PathBuf {
    folder.locks().join(session.to_string())
}

/// Takes the session, or says who has it.
pub(super) fn claim(folder: &Folder, session: SessionId, holder: &str, owned: &Owned) -> Result<Lease, StoreError> {
    let path = lock_file(folder, session);
    loop {
        let locked = take(&path, holder, owned).map_err(|error| missing(folder, error))?;
        // Between opening and locking, the former holder may have removed the file with its session;
        // then our lock is on a file nobody else can find.
        if same_file(&locked.file, &path) {
            return Ok(Lease::new(session, locked));
        }
    }
}

/// A folder of locks that is not there any more went with the database.
fn missing(folder: &Folder, error: StoreError) -> StoreError {
    if folder.database().exists() { error } else { StoreError::Gone { path: folder.database() } }
}

fn take(path: &Path, holder: &str, owned: &Owned) -> Result<Locked, StoreError> {
    let fault = |error| StoreError::of_io(path, &error);
    let file = private::lock_file(path).map_err(fault)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { holder: named_holder(&file) }),
        Err(TryLockError::Error(error)) => return Err(fault(error)),
    }
    let locked = Locked::new(file, owned.clone());
    locked.file.set_len(0).and_then(|()| (&locked.file).write_all(holder.as_bytes())).map_err(fault)?;
    Ok(locked)
}

fn named_holder(file: &File) -> String {
    let mut name = String::new();
    // A holder that has not yet written its name, or not in UTF-8, goes without one.
    let _ = file.take(256).read_to_string(&mut name);
    if name.is_empty() { "another process".into() } else { name }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |meta: &fs::Metadata| (meta.dev(), meta.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(held), Ok(found)) if identity(&held) == identity(&found))
}

#[cfg(not(unix))]
fn same_file(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Gives a removed session back and its lock file with it.
pub(super) fn forget(folder: &Folder, lease: Lease) -> Result<(), StoreError> {
    let path = lock_file(folder, lease.session());
    fs::remove_file(&path).map_err(|error| StoreError::of_io(&path, &error))?;
    drop(lease);
    Ok(())
}
