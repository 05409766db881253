//! Making room while files are put back: what is in the way of something and will be somewhere else is put
//! aside, under a name that is known again after a crash, until its place is free.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use windlass_vocab::{Change, FileState};

use super::observe::path_text;
use super::restore::{NOT_MOVED, Restoration};
use crate::place::sync_folder;

/// Whether a folder makes room for a file or a link, or one of those for a folder.
fn is_another_kind(change: &Change) -> bool {
    let (was, then) = (&change.was, &change.now);
    was.exists() && then.exists() && was.is_folder() != then.is_folder()
}

impl<'a> Restoration<'a> {
    /// The highest place on the way to `path`, or itself, where another kind of thing will be.
    pub(super) fn room(&self, path: &str) -> Option<&'a str> {
        let ancestors = Path::new(path).ancestors().filter_map(Path::to_str);
        let found = ancestors.filter_map(|ancestor| self.changes.get_key_value(ancestor));
        found.filter(|(_, change)| is_another_kind(change)).last().map(|(room, _)| room.as_str())
    }

    /// Where what is at `path` is put aside: beside what it makes room for.
    pub(super) fn aside(&self, path: &str) -> String {
        let number = self.changes.keys().take_while(|other| other.as_str() < path).count();
        let name = format!(".windlass-{}-{number}.tmp", self.mark);
        match self.room(path).unwrap_or(path).rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}"),
            None => name,
        }
    }

    pub(super) fn put_aside(&self, path: &str) -> io::Result<()> {
        self.rename(path, &self.aside(path))
    }

    /// What was put aside and could not be moved to its place goes where it was again.
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
            // It is in its place under another of its names.
            match self.take_away(&aside) {
                Ok(()) => return,
                Err(error) => format!("{aside} could not be removed: {error}"),
            }
        };
        self.left_alone.insert(path.to_owned(), why);
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        self.workspace.about_to_restore();
        source.rename_new(&target)?;
        sync_folder(&target.parent).and_then(|()| sync_folder(&source.parent))
    }

    /// The folders that are to make room and can't: nothing is taken out of them for it.
    pub(super) fn find_occupied(&self) -> BTreeSet<String> {
        let makes_room = |change: &Change| is_another_kind(change) && change.was.is_folder();
        let rooms = self.changes.iter().filter(|(_, change)| makes_room(change));
        rooms.filter(|(room, _)| self.holds_others(Path::new(room))).map(|(room, _)| room.clone()).collect()
    }

    /// Whether something is in this folder that will not go.
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
