//! A name in a folder of the workspace: replaces or moves the file there in one step.

use std::ffi::OsString;
use std::io::{self, Write};

use cap_std::fs::{Dir, OpenOptions};
use rustix::fs::RenameFlags;
use rustix::io::Errno;
use windlass_vocab::EffectId;

/// A name in a folder of the workspace: where a file is, or will be.
pub(crate) struct FileLocation {
    pub(crate) parent: Dir,
    pub(crate) name: OsString,
}

impl FileLocation {
    /// Replaces the file by `content` atomically: readers see the old file or the new one, also after a
    /// crash. Keeps the mode of a replaced file. The name of the temporary file derives from `effect`,
    /// so that a retry removes the one that a crash left behind.
    pub(crate) fn replace(&self, content: &[u8], effect: &EffectId) -> io::Result<()> {
        let mark = effect.as_str().replace([':', '/'], "-");
        let put = self.put(&mark, |folder, name| self.write_new(folder, name, content));
        put.map_err(|error| io::Error::other(format!("{error}; it was left as it was")))?;
        let unsure = |error| io::Error::other(format!("it was written, but the disk did not confirm it: {error}"));
        sync_folder(&self.parent).map_err(unsure)
    }

    /// Creates something under a temporary name in the same folder and renames it into place. `mark` is the same for
    /// every retry, so that a retry removes what the previous try left behind.
    pub(crate) fn put(&self, mark: &str, make: impl FnOnce(&Dir, &str) -> io::Result<()>) -> io::Result<()> {
        let unfinished = format!(".windlass-{mark}.tmp");
        match self.parent.remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let made = make(&self.parent, &unfinished);
        let put = made.and_then(|()| self.parent.rename(&unfinished, &self.parent, &self.name));
        if put.is_err() {
            // Ignore this error: the first one matters.
            let _ = self.parent.remove_file(&unfinished);
        }
        put
    }

    /// Renames without replacing an existing file; if the file system can't guarantee that, checks for
    /// one first.
    pub(crate) fn rename_new(&self, to: &Self) -> io::Result<()> {
        let renamed = rustix::fs::renameat_with(&self.parent, &self.name, &to.parent, &to.name, RenameFlags::NOREPLACE);
        match renamed {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                if to.parent.symlink_metadata(&to.name).is_ok() {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                self.parent.rename(&self.name, &to.parent, &to.name)
            }
            other => other.map_err(io::Error::from),
        }
    }

    fn write_new(&self, folder: &Dir, name: &str, content: &[u8]) -> io::Result<()> {
        let existing = self.parent.metadata(&self.name).ok();
        if existing.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
            return Err(io::Error::other("it is read-only"));
        }
        let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(content)?;
        if let Some(existing) = existing {
            file.set_permissions(existing.permissions())?;
        }
        file.sync_all()
    }
}

/// Makes a rename in `folder` durable.
pub(crate) fn sync_folder(folder: &Dir) -> io::Result<()> {
    // The handle may allow only lookups, so open one that can be synced. Some file systems can't sync a folder at
    // all; the file itself is synced by then.
    match folder.open(".").and_then(|folder| folder.sync_all()) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}
