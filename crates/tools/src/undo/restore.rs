//! Putting files back, one step per path. Each step looks first: what is as it will be is done, what is
//! as it was is changed, and anything else is somebody else's and left alone. So the whole may be done
//! again after a crash between any two steps, and inside one: a file is replaced in one rename.
//!
//! The order: what gives way goes first, the deepest first, and what will be somewhere else is only put aside;
//! then folders are made and what was only moved is moved back, the highest first, so that it stays the thing it
//! was, with all its names; what could not be moved back goes where it was again; then the other files and links
//! are made; last goes what is to be gone and could not go before: folders, if they are empty.
//!
//! Nothing that is to be moved is taken away before it is where it belongs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::{Dir, OpenOptions, Permissions, PermissionsExt};
use windlass_vocab::{Change, Changes, FileState, Hash};

use super::snapshot_bounds::SnapshotBounds;
use super::unkept_files::UnkeptFiles;
use crate::place::{FileLocation, sync_folder};
use crate::{Secrets, Workspace, no_follow};

pub(super) const NOT_MOVED: &str = "it could not be moved back";

/// What a path needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RestoreNeed {
    Nothing,
    Work,
}

/// Whether something got its other name.
enum RenameResult {
    Yes,
    No(io::Error),
}

/// Files being put back.
pub(super) struct Restoration<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) changes: &'a Changes,
    contents: &'a HashMap<Hash, Arc<[u8]>>,
    secrets: &'a Secrets,
    recorded: UnkeptFiles,
    /// Tells this restoring from any other.
    pub(super) mark: &'a str,
    /// Folders that are to give way and hold what is none of this restoring's business.
    pub(super) occupied: BTreeSet<String>,
    pub(super) left_alone: BTreeMap<String, String>,
}

impl Workspace {
    /// Makes every path what it will be, if it is what it was; says which were left alone, and why.
    /// `mark` tells this restoring from any other.
    pub fn restore(
        &self,
        changes: &Changes,
        contents: &HashMap<Hash, Arc<[u8]>>,
        secrets: &Secrets,
        mark: &str,
    ) -> BTreeMap<String, String> {
        let (occupied, left_alone) = (BTreeSet::new(), BTreeMap::new());
        let recorded = UnkeptFiles::of(changes.values().flat_map(|change| [&change.was, &change.now]));
        let mut restoring =
            Restoration { workspace: self, changes, contents, secrets, recorded, mark, occupied, left_alone };
        restoring.occupied = restoring.find_occupied();
        for (path, change) in changes.iter().rev() {
            restoring.step(path, change, Restoration::give_way);
        }
        for (path, change) in changes {
            restoring.step(path, change, Restoration::bring);
        }
        for (path, change) in changes {
            restoring.take_back(path, change);
        }
        for (path, change) in changes {
            restoring.step(path, change, Restoration::make);
        }
        for (path, change) in changes.iter().rev() {
            restoring.step(path, change, Restoration::leave);
        }
        restoring.left_alone
    }
}

impl Restoration<'_> {
    fn step(&mut self, path: &str, change: &Change, work: fn(&mut Self, &str, &Change) -> io::Result<()>) {
        if self.left_alone.contains_key(path) {
            return;
        }
        let done = match self.need(path, change) {
            Ok(RestoreNeed::Nothing) => return,
            Ok(RestoreNeed::Work) => work(self, path, change).map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        if let Err(why) = done {
            self.left_alone.insert(path.to_owned(), why);
        }
    }

    /// Whether there is something to do, or somebody else was faster.
    pub(super) fn need(&self, path: &str, change: &Change) -> Result<RestoreNeed, String> {
        if !self.workspace.is_plain(Path::new(path)) {
            return if self.is_below_own_link(path, change) {
                Ok(RestoreNeed::Nothing)
            } else {
                Err("it is no longer reached without a link".to_owned())
            };
        }
        let here = self.here(path);
        if here == FileState::OUT_OF_REACH {
            return Err("it can't be reached any more".to_owned());
        }
        let (was, then) = (&change.was, &change.now);
        if here.is_like(then) {
            return Ok(RestoreNeed::Nothing);
        }
        // A folder is made before its permissions are set, and goes only when it is empty.
        let is_folder = here.is_folder() && (then.is_folder() || was.is_folder() && !then.exists());
        // Where a folder takes the place of a file, or a file that of a folder, there is nothing for a moment.
        let gave_way = !here.exists() && was.is_folder() != then.is_folder();
        // What was moved onto another file is moved away before that one is made again.
        let moved_away = !here.exists() && then.exists() && self.moves(path, was);
        if is_folder || gave_way || moved_away || here.is_like(was) {
            Ok(RestoreNeed::Work)
        } else {
            Err("it was changed meanwhile".to_owned())
        }
    }

    /// Whether nothing is to be done here for now because of a link that is a part of this: one that is back where
    /// a folder was, or one that a folder will take the place of.
    fn is_below_own_link(&self, path: &str, change: &Change) -> bool {
        let above = Path::new(path).ancestors().skip(1).filter_map(Path::to_str);
        let mut above = above.filter_map(|above| self.changes.get_key_value(above));
        let is_link = |state: &FileState| matches!(state, FileState::Link { .. });
        above.any(|(above, link)| {
            let is_back = is_link(&link.now) && self.here(above).is_like(&link.now);
            let gives_way = is_link(&link.was) && link.now.is_folder() && !self.left_alone.contains_key(above);
            is_back && !change.now.exists() || gives_way && !change.was.exists() && self.here(above).is_like(&link.was)
        })
    }

    /// Takes away what is in the way: a file that goes, and what makes room for another kind of thing. What
    /// will be somewhere else is put aside.
    fn give_way(&mut self, path: &str, change: &Change) -> io::Result<()> {
        let (was, then) = (&change.was, &change.now);
        let here = self.workspace.dir().symlink_metadata(path);
        if here.map_or(true, |here| here.is_dir() != was.is_folder()) {
            // It gave way already.
            return Ok(());
        }
        let room = self.room(path);
        let is_occupied = room.is_some_and(|room| self.occupied.contains(room));
        if self.moves(path, was) {
            return match room {
                Some(_) if is_occupied => Err(io::Error::other(NOT_MOVED)),
                Some(_) => self.put_aside(path),
                None if self.comes(path, then) => self.put_aside(path),
                None => Ok(()),
            };
        }
        let takes_its_place = room == Some(path);
        if takes_its_place && is_occupied {
            return Err(not_empty(io::ErrorKind::DirectoryNotEmpty.into()));
        }
        let is_in_the_way = room.is_some() && !is_occupied;
        let goes = !then.exists() && (!was.is_folder() || is_in_the_way);
        if !goes && !takes_its_place {
            return Ok(());
        }
        self.take_away(path)
    }

    /// Makes folders, and moves back what was moved.
    fn bring(&mut self, path: &str, change: &Change) -> io::Result<()> {
        let then = &change.now;
        if !then.exists() {
            return Ok(());
        }
        match (self.moved_from(path, then), then) {
            (Some(from), _) => match self.move_back(&from, path)? {
                RenameResult::Yes => Ok(()),
                // A file or link that can't be moved is made anew.
                RenameResult::No(error) if then.is_only_moved() => Err(error),
                RenameResult::No(_) => self.put(path, then),
            },
            (None, FileState::Folder { .. }) => self.make_folder(path),
            (None, FileState::Unkept { .. }) => Err(io::Error::other("its content was not kept")),
            (None, FileState::Absent | FileState::File { .. } | FileState::Link { .. }) => Ok(()),
        }
    }

    /// Makes files and links.
    fn make(&mut self, path: &str, change: &Change) -> io::Result<()> {
        if self.is_still_here(path, &change.was) && self.would_lose(path, &change.was) {
            return Err(io::Error::other(NOT_MOVED));
        }
        self.put(path, &change.now)
    }

    fn put(&mut self, path: &str, then: &FileState) -> io::Result<()> {
        match then {
            FileState::Absent | FileState::Folder { .. } | FileState::Unkept { .. } => Ok(()),
            FileState::File { blob, mode, .. } => {
                let lost = || io::Error::other("its former content is missing from the store");
                let content = self.contents.get(blob).cloned().ok_or_else(lost)?;
                let place = self.place(path)?;
                self.workspace.about_to_restore();
                place.put(self.mark, |folder, name| write(folder, name, &content, *mode))?;
                sync_folder(&place.parent)
            }
            FileState::Link { target, .. } => {
                let place = self.place(path)?;
                self.workspace.about_to_restore();
                place.put(self.mark, |folder, name| folder.symlink_contents(target, name))?;
                sync_folder(&place.parent)
            }
        }
    }

    /// Takes away what will not be there and was not moved: folders if nothing else is in them. Gives the
    /// others their permissions, which might have kept things from being put in.
    fn leave(&mut self, path: &str, change: &Change) -> io::Result<()> {
        match (&change.was, &change.now) {
            (_, FileState::Folder { mode, .. }) => {
                let place = self.place(path)?;
                self.workspace.about_to_restore();
                place.parent.set_permissions(&place.name, Permissions::from_mode(*mode))
            }
            (was, FileState::Absent) if self.would_lose(path, was) => Err(io::Error::other(NOT_MOVED)),
            (_, FileState::Absent) => self.take_away(path),
            (_, FileState::File { .. } | FileState::Link { .. } | FileState::Unkept { .. }) => Ok(()),
        }
    }

    /// Takes away a file, a link or an empty folder.
    pub(super) fn take_away(&self, path: &str) -> io::Result<()> {
        let place = self.place(path)?;
        let is_folder = place.parent.symlink_metadata(&place.name)?.is_dir();
        self.workspace.about_to_restore();
        if is_folder {
            place.parent.remove_dir(&place.name).map_err(not_empty)?;
        } else {
            place.parent.remove_file(&place.name)?;
        }
        sync_folder(&place.parent)
    }

    /// Where the thing is now that will be here: one of its names that it will not keep, or aside.
    fn moved_from(&self, path: &str, then: &FileState) -> Option<String> {
        let names = self.sources(path, then).flat_map(|name| [name.to_owned(), self.aside(name)]);
        names.into_iter().find(|name| self.is_still_here(name, then))
    }

    /// Whether the thing that will be here is, or was, somewhere else.
    fn comes(&self, path: &str, then: &FileState) -> bool {
        self.sources(path, then).next().is_some()
    }

    fn sources<'s>(&'s self, path: &'s str, then: &'s FileState) -> impl Iterator<Item = &'s str> + 's {
        let goes = |change: &Change| change.was.is_same_thing(then) && !change.now.is_same_thing(then);
        let others = self.if_moved(then).filter(move |(other, change)| *other != path && goes(change));
        others.map(|(other, _)| other.as_str())
    }

    /// All changes where it is recorded which thing this is; else it was not moved, and a deed of many
    /// files need not compare each with each.
    fn if_moved(&self, thing: &FileState) -> impl Iterator<Item = (&String, &Change)> {
        thing.inode().into_iter().flat_map(|_| self.changes)
    }

    /// Whether the thing that is here now will be somewhere else.
    pub(super) fn moves(&self, path: &str, was: &FileState) -> bool {
        self.destinations(path, was).next().is_some()
    }

    /// Whether the thing that is here now will be somewhere else, and is not there yet.
    pub(super) fn would_lose(&self, path: &str, was: &FileState) -> bool {
        let is_there = |(other, change): (&str, &Change)| self.here(other).is_like(&change.now);
        self.moves(path, was) && !self.destinations(path, was).any(is_there)
    }

    fn destinations<'s>(
        &'s self,
        path: &'s str,
        was: &'s FileState,
    ) -> impl Iterator<Item = (&'s str, &'s Change)> + 's {
        let others = self.if_moved(was).map(|(other, change)| (other.as_str(), change));
        others.filter(move |(other, change)| *other != path && change.now.is_same_thing(was))
    }

    pub(super) fn is_still_here(&self, path: &str, thing: &FileState) -> bool {
        self.here(path).is_same_thing(thing)
    }

    fn here(&self, path: &str) -> FileState {
        self.workspace.observe(path, &self.recorded, SnapshotBounds::PATHS.file_bytes, self.secrets).state
    }

    /// Moves something to its place, over what gives way to it there.
    fn move_back(&mut self, from: &str, to: &str) -> io::Result<RenameResult> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        let is_taken = target.parent.symlink_metadata(&target.name).is_ok_and(|metadata| !metadata.is_dir());
        self.workspace.about_to_restore();
        let renamed = if is_taken {
            source.parent.rename(&source.name, &target.parent, &target.name)
        } else {
            source.rename_new(&target)
        };
        match renamed {
            Err(error) => Ok(RenameResult::No(error)),
            Ok(()) => {
                sync_folder(&target.parent).and_then(|()| sync_folder(&source.parent)).map(|()| RenameResult::Yes)
            }
        }
    }

    fn make_folder(&mut self, path: &str) -> io::Result<()> {
        let place = self.place(path)?;
        self.workspace.about_to_restore();
        match place.parent.create_dir(&place.name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => sync_folder(&place.parent),
        }
    }

    pub(super) fn place(&self, path: &str) -> io::Result<FileLocation> {
        let path = Path::new(path);
        let parent = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        self.workspace.about_to_open();
        Ok(FileLocation { parent: no_follow::open_folder(self.workspace.dir(), parent)?, name: name.to_owned() })
    }
}

fn write(folder: &Dir, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
    let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(content)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

fn not_empty(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::DirectoryNotEmpty {
        io::Error::other("other things are in it by now")
    } else {
        error
    }
}
