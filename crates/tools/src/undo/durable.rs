//! Makes a restoration durable with few waits for the disk. All files are written under temporary names first; when the disk
//! has their contents, each is renamed into place: a crash leaves the old file or the whole new one, as it would if each had
//! been synced alone.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use cap_std::fs::MetadataExt;
use cap_std::fs::{Dir, File};
use windlass_vocab::{Change, FileState};

use super::observe::is_absent;
use super::restore::{Restoration, write};
use crate::no_follow;
use crate::place::sync_folder;

/// The most files that are synced one by one; of more, the whole file system is.
const SYNCED_ALONE: usize = 32;

/// A file that is written and not yet in its place.
struct WrittenFile<'a> {
    path: &'a str,
    change: &'a Change,
    temporary: String,
    /// Open until it is synced, where there are few.
    file: Option<File>,
}

impl Restoration<'_> {
    /// Records that a name in the folder of `path` was changed.
    pub(super) fn sync_later(&mut self, path: &str) {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        self.unsynced.entry(folder.to_owned()).or_default().push(path.to_owned());
    }

    /// Makes the changed names durable.
    pub(super) fn sync_folders(&mut self) {
        for (folder, paths) in std::mem::take(&mut self.unsynced) {
            let opened = no_follow::open_folder(self.workspace.dir(), &folder);
            match opened.and_then(|folder| sync_folder(&folder)) {
                Ok(()) => {}
                // It is gone itself, which its parent tells.
                Err(error) if is_absent(&error) => {}
                Err(error) => {
                    for path in paths.into_iter().filter(|path| self.changes.contains_key(path)) {
                        self.left_alone.entry(path).or_insert_with(|| error.to_string());
                    }
                }
            }
        }
    }

    /// Creates files and symlinks.
    pub(super) fn make_all(&mut self) {
        let mut written = Vec::new();
        for (number, (path, change)) in self.changes.iter().enumerate() {
            let FileState::File { blob, mode, .. } = change.now else {
                self.step(path, change, Restoration::make);
                continue;
            };
            let temporary = format!(".windlass-{}-{number}-new.tmp", self.mark);
            let mut file = None;
            self.step(path, change, |restoring, path, change| {
                restoring.may_replace(path, change)?;
                let (content, place) = (restoring.content(blob)?, restoring.place(path)?);
                remove_if_there(&place.parent, &temporary)?;
                restoring.workspace.about_to_restore();
                file = Some(write(&place.parent, &temporary, &content, mode)?);
                Ok(())
            });
            match file {
                Some(file) => {
                    let file = Some(file).filter(|_| written.len() < SYNCED_ALONE);
                    written.push(WrittenFile { path, change, temporary, file });
                }
                // An earlier try, or this one, may have left it behind.
                None => self.remove_temporary(path, &temporary),
            }
        }
        let failed = self.sync_contents(&written).err().map(|error| error.to_string());
        for WrittenFile { path, change, temporary, .. } in written {
            self.step(path, change, |restoring, path, _| match &failed {
                Some(error) => Err(io::Error::other(error.clone())),
                None => restoring.move_into_place(path, &temporary),
            });
            if failed.is_some() || self.left_alone.contains_key(path) {
                self.remove_temporary(path, &temporary);
            }
        }
    }

    fn move_into_place(&mut self, path: &str, temporary: &str) -> io::Result<()> {
        let place = self.place(path)?;
        self.workspace.about_to_restore();
        place.parent.rename(temporary, &place.parent, &place.name)?;
        self.sync_later(path);
        Ok(())
    }

    /// Removes a temporary file, if there is one. An error is of no consequence: the file itself is dealt with by then.
    fn remove_temporary(&self, path: &str, temporary: &str) {
        let _ = self.place(path).and_then(|place| remove_if_there(&place.parent, temporary));
    }

    /// Waits until the disk has the contents of these files.
    fn sync_contents(&self, written: &[WrittenFile<'_>]) -> io::Result<()> {
        if written.len() > SYNCED_ALONE && self.sync_file_systems(written).is_ok() {
            return Ok(());
        }
        written.iter().try_for_each(|written| match &written.file {
            Some(file) => file.sync_all(),
            None => self.place(written.path)?.parent.open(&written.temporary)?.sync_all(),
        })
    }

    /// Syncs each file system that has one of these files.
    #[cfg(target_os = "linux")]
    fn sync_file_systems(&self, written: &[WrittenFile<'_>]) -> io::Result<()> {
        let folders: BTreeSet<&Path> = written.iter().filter_map(|written| Path::new(written.path).parent()).collect();
        let mut synced = BTreeSet::new();
        for folder in folders {
            // The handle of a folder may allow only lookups.
            let folder = no_follow::open_folder(self.workspace.dir(), folder)?.open(".")?;
            if synced.insert(folder.metadata()?.dev()) {
                rustix::fs::syncfs(&folder)?;
            }
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "the same as on Linux")]
    fn sync_file_systems(&self, _: &[WrittenFile<'_>]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn remove_if_there(folder: &Dir, name: &str) -> io::Result<()> {
    match folder.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
