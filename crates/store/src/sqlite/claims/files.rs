//! Claims sessions through files in the folder `locks`, each locked by its holder and containing the holder's process
//! id. The files are never removed: all processes must lock the same file.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_vocab::SessionId;

use super::ClaimRefusal;
use crate::sqlite::folder::DataFolder;
use crate::sqlite::private;

/// The folder, and the files this store has locked.
#[derive(Debug)]
pub(super) struct Locks {
    folder: PathBuf,
    files: Mutex<HashMap<SessionId, File>>,
}

impl Locks {
    pub(super) fn path(folder: &DataFolder) -> PathBuf {
        folder.locks()
    }

    pub(super) fn open(folder: &DataFolder) -> io::Result<Self> {
        private::make_folder(&folder.locks())?;
        Ok(Self { folder: folder.locks(), files: Mutex::default() })
    }

    pub(super) fn take(&self, session: SessionId) -> Result<(), ClaimRefusal> {
        let file = lock(&self.folder.join(session.to_string()))?;
        let own = std::process::id().to_string();
        file.set_len(0).and_then(|()| (&file).write_all(own.as_bytes())).map_err(ClaimRefusal::Failed)?;
        self.files().insert(session, file);
        Ok(())
    }

    /// Returns an error with the holder if the session is claimed; locks it only for the duration of the check.
    pub(super) fn look(&self, session: SessionId) -> Result<(), ClaimRefusal> {
        match File::open(self.folder.join(session.to_string())) {
            Ok(file) => try_lock(&file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(ClaimRefusal::Failed(error)),
        }
    }

    /// Like `look`, without an open store.
    pub(super) fn look_at(folder: &DataFolder, session: SessionId) -> Result<(), ClaimRefusal> {
        Self { folder: folder.locks(), files: Mutex::default() }.look(session)
    }

    pub(super) fn free(&self, session: SessionId) {
        // Unlocked explicitly: a child process that was just forked may hold a copy of the descriptor.
        if let Some(file) = self.files().remove(&session) {
            let _ = file.unlock();
        }
    }

    fn files(&self) -> MutexGuard<'_, HashMap<SessionId, File>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lock(path: &Path) -> Result<File, ClaimRefusal> {
    let file = private::lock_file(path).map_err(ClaimRefusal::Failed)?;
    try_lock(&file).map(|()| file)
}

fn try_lock(file: &File) -> Result<(), ClaimRefusal> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(ClaimRefusal::Held(holder(file))),
        Err(TryLockError::Error(error)) => Err(ClaimRefusal::Failed(error)),
    }
}

/// The holder's process id; `None` if it has not written it yet.
fn holder(file: &File) -> Option<u32> {
    let mut id = String::new();
    file.take(16).read_to_string(&mut id).ok()?;
    id.parse().ok()
}
