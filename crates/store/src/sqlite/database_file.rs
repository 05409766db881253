//! The database file, opened a second time beside SQLite, to lock ranges of it and to read its header.
//!
//! SQLite's own locks on the file belong to the process, and the system drops all of them when the process closes *any*
//! descriptor of that file. So a process has one descriptor here, shared by all its stores, and every owner of a SQLite
//! connection also holds a [`DatabaseFile`], from before the connection is opened until after it is closed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::presence::place;

/// The files this process has open. They are opened and closed only while this is locked, so that no connection is
/// opened between the moment when the last user of a file is dropped and the moment when the file is closed.
static OPEN: Mutex<Vec<Arc<DatabaseHandle>>> = Mutex::new(Vec::new());

fn open_files() -> MutexGuard<'static, Vec<Arc<DatabaseHandle>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This process's file descriptor for one database file.
#[derive(Debug)]
pub(super) struct DatabaseHandle {
    pub(super) file: File,
    place: (u64, u64),
    /// Starts of the ranges locked by stores of this process: a descriptor's locks do not exclude itself.
    locked: Mutex<HashSet<i64>>,
}

impl DatabaseHandle {
    /// Starts of the ranges that this process has locked.
    pub(super) fn locked(&self) -> MutexGuard<'_, HashSet<i64>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `path` still names this file.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| place(&found) == self.place)
    }
}

/// One user of a database file; dropping the last one closes the file.
#[derive(Debug)]
pub(super) struct DatabaseFile(Option<Arc<DatabaseHandle>>);

impl DatabaseFile {
    /// Opens the file at `path`, which must exist.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut open = open_files();
        let wanted = place(&fs::metadata(path)?);
        if let Some(known) = open.iter().find(|known| known.place == wanted) {
            return Ok(Self(Some(Arc::clone(known))));
        }
        let file = match File::options().read(true).write(true).open(path) {
            Err(error) if is_unwritable(&error) => File::open(path)?,
            opened => opened?,
        };
        let handle = Arc::new(DatabaseHandle { place: place(&file.metadata()?), file, locked: Mutex::default() });
        open.push(Arc::clone(&handle));
        Ok(Self(Some(handle)))
    }

    /// The shared handle. It exists until this is dropped.
    pub(super) fn handle(&self) -> io::Result<&DatabaseHandle> {
        self.0.as_deref().ok_or_else(|| io::Error::other("it is closed"))
    }
}

fn is_unwritable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

impl Drop for DatabaseFile {
    fn drop(&mut self) {
        let mut open = open_files();
        drop(self.0.take());
        // A handle that only the list still refers to is closed here, while the list is locked.
        open.retain(|handle| Arc::strong_count(handle) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_handle_on_a_file_and_the_last_user_closes_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("database");
        fs::write(&path, "").unwrap();
        let wanted = place(&fs::metadata(&path).unwrap());
        let open = || open_files().iter().filter(|handle| handle.place == wanted).count();
        let (one, other) = (DatabaseFile::open(&path).unwrap(), DatabaseFile::open(&path).unwrap());
        assert_eq!(open(), 1);
        drop(one);
        assert_eq!(open(), 1);
        assert!(other.handle().unwrap().is_at(&path));
        fs::rename(&path, dir.path().join("elsewhere")).unwrap();
        assert!(!other.handle().unwrap().is_at(&path));
        drop(other);
        assert_eq!(open(), 0);
    }
}
