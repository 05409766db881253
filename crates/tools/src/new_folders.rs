//! Folders made on the way to a file: they stay if the file does.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use cap_std::fs::Dir;

use crate::no_follow;

/// Folders that were made. When this is dropped before it is kept, those that are still empty are removed: a call
/// that was refused or failed leaves nothing behind.
#[derive(Debug)]
pub(crate) struct NewFolders {
    /// Each by the folder it is in and its name.
    made: Vec<(Dir, OsString)>,
}

impl NewFolders {
    /// Opens `folder`, and makes what is missing of it and the folders it stands in. No link is followed.
    pub(crate) fn make(root: &Dir, folder: &Path) -> io::Result<(Self, Dir)> {
        let mut new = Self { made: Vec::new() };
        let mut here = root.try_clone()?;
        for name in no_follow::names(folder) {
            let name = name?;
            here = match no_follow::open_subfolder(&here, name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match here.create_dir(name) {
                        Ok(()) => new.made.push((here.try_clone()?, name.to_owned())),
                        // Somebody else made it in between.
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

    /// What they were made for is there.
    pub(crate) fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for (folder, name) in self.made.iter().rev() {
            // One with something in it by now is somebody's.
            let _ = folder.remove_dir(name);
        }
    }
}
