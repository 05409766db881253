//! Making room while files are restored: a file that is in the way of another and will be moved is put aside until its
//! destination is free, under a name that can be found again after a crash.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use windlass_vocab::{Change, FileState};

use super::observe::path_text;
use super::restore::{NOT_MOVED, Restoration};

/// Whether a folder is replaced by a file or symlink, or one of those by a folder.
fn is_another_kind(change: &Change) -> bool {
    let (was, then) = (&change.was, &change.now);
    was.exists() && then.exists() && was.is_folder() != then.is_folder()
}

impl<'a> Restoration<'a> {
    /// Returns the topmost of `path` and its parents that will become another kind of file.
    pub(super) fn room(&self, path: &str) -> Option<&'a str> {
        let ancestors = Path::new(path).ancestors().filter_map(Path::to_str);
        let found = ancestors.filter_map(|ancestor| self.changes.get_key_value(ancestor));
        found.filter(|(_, change)| is_another_kind(change)).last().map(|(room, _)| room.as_str())
    }

    /// Returns the name under which the file at `path` is put aside: beside the path that it makes room for.
    pub(super) fn aside(&self, path: &str) -> String {
        let number = self.changes.keys().take_while(|other| other.as_str() < path).count();
        let name = format!(".windlass-{}-{number}.tmp", self.mark);
        match self.room(path).unwrap_or(path).rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}"),
            None => name,
        }
    }

    pub(super) fn put_aside(&mut self, path: &str) -> io::Result<()> {
        let aside = self.aside(path);
        self.rename(path, &aside)
    }

    /// Moves a file that was put aside, but could not be moved to its destination, back to where it was.
    pub(super) fn take_back(&mut self, path: &str, change: &Change) {
        if !self.moves(path, &change.was) {
            return;
        }
        let aside = self.aside(path);
        if !self.is_still_here(&aside, &change.was) {
            return;
        }
        let why = if self.would_lose(path, &change.was) {
            match self.rename(&aside, path) {
                Ok(()) => NOT_MOVED.to_owned(),
                Err(error) => format!("{NOT_MOVED}, and is now {aside}: {error}"),
            }
        } else {
            // It is at its destination under another hard link.
            match self.take_away(&aside) {
                Ok(()) => return,
                Err(error) => format!("{aside} could not be removed: {error}"),
            }
        };
        self.left_alone.insert(path.to_owned(), why);
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        self.workspace.about_to_restore();
        source.rename_new(&target)?;
        self.sync_later(to);
        self.sync_later(from);
        Ok(())
    }

    /// Returns the folders that must make room but can't: nothing is moved out of them.
    pub(super) fn find_occupied(&self) -> BTreeSet<String> {
        let makes_room = |change: &Change| is_another_kind(change) && change.was.is_folder();
        let rooms = self.changes.iter().filter(|(_, change)| makes_room(change));
        rooms.filter(|(room, _)| self.holds_others(Path::new(room))).map(|(room, _)| room.clone()).collect()
    }

    /// Whether the folder contains a file that will stay.
    fn holds_others(&self, folder: &Path) -> bool {
        let is_folder = |path: &Path| self.workspace.dir().symlink_metadata(path).is_ok_and(|found| found.is_dir());
        if !is_folder(folder) {
            return false;
        }
        let Ok(entries) = self.workspace.dir().read_dir(folder) else { return true };
        entries.into_iter().any(|entry| {
            let Ok(entry) = entry else { return true };
            let path = folder.join(entry.file_name());
            let goes = |path: &String| {
                let change = self.changes.get(path).filter(|change| change.now == FileState::Absent);
                change.is_some_and(|change| self.need(path, change).is_ok())
            };
            !path_text(&path).as_ref().is_some_and(goes) || self.holds_others(&path)
        })
    }
}
