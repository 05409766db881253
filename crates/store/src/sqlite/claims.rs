//! Owning a session through an OS lock on `locks/<session>`: freed when the lease is dropped, and by
//! the system when the process dies. The file names its holder, for those who find it locked.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use windlass_vocab::SessionId;

use super::Folder;
use crate::{Lease, StoreError};

/// A locked file. Unlocked by hand: a child process that was just forked may hold a copy of it.
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file frees the lock as well.
        let _ = self.0.unlock();
    }
}

fn lock_file(folder: &Folder, session: SessionId) -> PathBuf {
    folder.locks().join(session.to_string())
}

/// Takes the session, or says who has it.
pub(super) fn claim(folder: &Folder, session: SessionId, holder: &str) -> Result<Lease, StoreError> {
    let path = lock_file(folder, session);
    loop {
        let file = take(&path, holder)?;
        // Between opening and locking, the former holder may have removed the file with its session;
        // then our lock is on a file nobody else can find.
        if same_file(&file.0, &path) {
            return Ok(Lease::new(session, file));
        }
    }
}

fn take(path: &Path, holder: &str) -> Result<Locked, StoreError> {
    let fault = |error| StoreError::of_io(path, &error);
    let file = File::options().create(true).truncate(false).read(true).write(true).open(path).map_err(fault)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { holder: named_holder(&file) }),
        Err(TryLockError::Error(error)) => return Err(fault(error)),
    }
    let locked = Locked(file);
    locked.0.set_len(0).and_then(|()| (&locked.0).write_all(holder.as_bytes())).map_err(fault)?;
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
