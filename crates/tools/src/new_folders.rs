//! Parent folders created for a file: they stay only if the file is created.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use cap_std::fs::Dir;

use crate::no_follow;

/// Folders that were created. Dropping this without `keep` removes those that are still empty, so that a call that was
/// refused or failed leaves nothing behind.
#[derive(Debug)]
pub(crate) struct NewFolders {
    /// Parent folder and name of each.
    made: Vec<(Dir, OsString)>,
}

impl NewFolders {
    /// Opens `folder`, and creates it and its parents if missing. Follows no symlink.
    pub(crate) fn make(root: &Dir, folder: &Path) -> io::Result<(Self, Dir)> {
        let mut new = Self { made: Vec::new() };
        let mut here = root.try_clone()?;
        for name in no_follow::names(folder) {
            let name = name?;
            here = match no_follow::open_subfolder(&here, name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match here.create_dir(name) {
                        Ok(()) => new.made.push((here.try_clone()?, name.to_owned())),
                        // Another process created it in between.
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                        Err(error) => return Err(error),
                    }
                    no_follow::open_subfolder(&here, name)?
                }
                opened => opened?,
            };
        }
        Ok((new, here))
    }

    /// Keeps the folders, because the file was created.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for (folder, name) in self.made.iter().rev() {
            // A folder that is no longer empty is in use by another process; removing it fails.
            let _ = folder.remove_dir(name);
        }
    }
}
