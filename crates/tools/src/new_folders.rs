//! Folders made on the way to a file: they stay if the file does.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

/// Folders that were made. When this is dropped before it is kept, those that are still empty are removed: a call
/// that was refused or failed leaves nothing behind.
#[derive(Debug)]
pub(crate) struct NewFolders {
    root: Dir,
    made: Vec<PathBuf>,
}

impl NewFolders {
    /// Makes what is missing of `folder` and the folders it stands in.
    pub(crate) fn make(root: &Dir, folder: &Path) -> io::Result<Self> {
        let mut new = Self { root: root.try_clone()?, made: Vec::new() };
        let mut way: Vec<&Path> = folder.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
        way.reverse();
        for part in way {
            if root.metadata(part).is_ok_and(|metadata| metadata.is_dir()) {
                continue;
            }
            match root.create_dir(part) {
                Ok(()) => new.made.push(part.to_owned()),
                // Somebody else made it in between, or it is no folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !root.metadata(part).is_ok_and(|metadata| metadata.is_dir()) {
                        return Err(io::ErrorKind::NotADirectory.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(new)
    }

    /// None.
    pub(crate) fn none(root: &Dir) -> io::Result<Self> {
        Ok(Self { root: root.try_clone()?, made: Vec::new() })
    }

    /// Takes charge of others too.
    pub(crate) fn with(mut self, mut later: Self) -> Self {
        self.made.append(&mut later.made);
        self
    }

    /// What they were made for is there.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            // One with something in it by now is somebody's.
            let _ = self.root.remove_dir(folder);
        }
    }
}
