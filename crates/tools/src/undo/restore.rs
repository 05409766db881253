//! Restores files, one step per path. Each step checks the state first: a path that has its target state is done, a
//! path that has the recorded state is changed, and a path in any other state was changed by somebody else and is left
//! alone. So the whole restoration can be repeated after a crash between any two steps, or within one: a file is
//! replaced by one rename.
//!
//! The order: first, files that must make room are removed, the deepest first, and those that will be moved are only
//! put aside. Then folders are created and moved files are moved back, the topmost first, so that each keeps its inode
//! and all its hard links. Files that could not be moved back return to where they were. Then the other files and
//! symlinks are created. Last, files that could not be removed before are removed: folders, if they are empty.
//!
//! Nothing that is to be moved is removed before it is at its destination.
//!
//! The disk is told to keep what was done once per pass, not once per path: of thousands of files each would wait for the
//! disk. The passes depend on each other, the steps of one pass don't.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, File, OpenOptions, Permissions, PermissionsExt};
use windlass_vocab::{Change, Changes, FileState, Hash};

use super::moved_inodes::MovedInodes;
use super::snapshot_bounds::SnapshotBounds;
use super::unkept_files::UnkeptFiles;
use crate::place::FileLocation;
use crate::{Secrets, Workspace, no_follow};

pub(super) const NOT_MOVED: &str = "it could not be moved back";

/// Whether a path must be changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RestoreNeed {
    Nothing,
    Work,
}

/// Whether a rename succeeded.
enum RenameResult {
    Yes,
    No(io::Error),
}

/// A restoration in progress.
pub(super) struct Restoration<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) changes: &'a Changes,
    contents: &'a HashMap<Hash, Arc<[u8]>>,
    secrets: &'a Secrets,
    recorded: UnkeptFiles,
    /// Distinguishes this restoration from any other.
    pub(super) mark: &'a str,
    /// Folders that must make room but contain files that are not part of this restoration.
    pub(super) occupied: BTreeSet<String>,
    pub(super) left_alone: BTreeMap<String, String>,
    moves: MovedInodes<'a>,
    /// The folders in which names were changed since they were last synced, with those paths.
    pub(super) unsynced: BTreeMap<PathBuf, Vec<String>>,
}

impl Workspace {
    /// Brings every path from its recorded state to its target state. Returns the paths that were left alone, and why.
    /// `mark` distinguishes this restoration from any other.
    pub fn restore(
        &self,
        changes: &Changes,
        contents: &HashMap<Hash, Arc<[u8]>>,
        secrets: &Secrets,
        mark: &str,
    ) -> BTreeMap<String, String> {
        let (occupied, left_alone) = (BTreeSet::new(), BTreeMap::new());
        let recorded = UnkeptFiles::of(changes.values().flat_map(|change| [&change.was, &change.now]));
        let (moves, unsynced) = (MovedInodes::of(changes), BTreeMap::new());
        let mut restoring = Restoration {
            workspace: self,
            changes,
            contents,
            secrets,
            recorded,
            mark,
            occupied,
            left_alone,
            moves,
            unsynced,
        };
        restoring.occupied = restoring.find_occupied();
        for (path, change) in changes.iter().rev() {
            restoring.step(path, change, Restoration::give_way);
        }
        restoring.sync_folders();
        for (path, change) in changes {
            restoring.step(path, change, Restoration::bring);
        }
        restoring.sync_folders();
        for (path, change) in changes {
            restoring.take_back(path, change);
        }
        restoring.sync_folders();
        restoring.make_all();
        restoring.sync_folders();
        for (path, change) in changes.iter().rev() {
            restoring.step(path, change, Restoration::leave);
        }
        restoring.sync_folders();
        restoring.left_alone
    }
}

impl Restoration<'_> {
    pub(super) fn step(
        &mut self,
        path: &str,
        change: &Change,
        work: impl FnOnce(&mut Self, &str, &Change) -> io::Result<()>,
    ) {
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

    /// Returns whether the path must be changed, or why it must be left alone.
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
        // A folder is created before its permissions are set, and removed only when it is empty.
        let is_folder = here.is_folder() && (then.is_folder() || was.is_folder() && !then.exists());
        // While a folder replaces a file, or a file a folder, nothing exists there for a moment.
        let gave_way = !here.exists() && was.is_folder() != then.is_folder();
        // A file that was moved onto another one is moved away before the other is created again.
        let moved_away = !here.exists() && then.exists() && self.moves(path, was);
        // What was below a link is seen once a folder has replaced the link.
        let was_hidden = !here.exists() && *was == FileState::OUT_OF_REACH;
        if is_folder || gave_way || moved_away || was_hidden || here.is_like(was) {
            Ok(RestoreNeed::Work)
        } else {
            Err("it was changed meanwhile".to_owned())
        }
    }

    /// Whether this path needs nothing for now because of a symlink above it that is part of this restoration: one that
    /// was restored in place of a folder, or one that a folder will replace.
    fn is_below_own_link(&self, path: &str, change: &Change) -> bool {
        let above = Path::new(path).ancestors().skip(1).filter_map(Path::to_str);
        let mut above = above.filter_map(|above| self.changes.get_key_value(above));
        let is_link = |state: &FileState| matches!(state, FileState::Link { .. });
        let is_hidden = !change.was.exists() || change.was == FileState::OUT_OF_REACH;
        above.any(|(above, link)| {
            let is_back = is_link(&link.now) && self.here(above).is_like(&link.now);
            let gives_way = is_link(&link.was) && link.now.is_folder() && !self.left_alone.contains_key(above);
            is_back && !change.now.exists() || gives_way && is_hidden && self.here(above).is_like(&link.was)
        })
    }

    /// Removes what is in the way: a file that will be gone, and a file that makes room for another kind. Puts aside
    /// what will be moved.
    fn give_way(&mut self, path: &str, change: &Change) -> io::Result<()> {
        let (was, then) = (&change.was, &change.now);
        let here = self.workspace.dir().symlink_metadata(path);
        if here.map_or(true, |here| here.is_dir() != was.is_folder()) {
            // It was removed already.
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

    /// Creates folders, and moves back what was moved.
    fn bring(&mut self, path: &str, change: &Change) -> io::Result<()> {
        let then = &change.now;
        if !then.exists() {
            return Ok(());
        }
        match (self.moved_from(path, then), then) {
            (Some(from), _) => match self.move_back(&from, path)? {
                RenameResult::Yes => Ok(()),
                // A file or symlink that can't be moved is created anew.
                RenameResult::No(error) if then.is_only_moved() => Err(error),
                RenameResult::No(_) => self.put(path, then),
            },
            (None, FileState::Folder { .. }) => self.make_folder(path),
            (None, FileState::Unkept { .. }) => Err(io::Error::other("its content was not kept")),
            (None, FileState::Absent | FileState::File { .. } | FileState::Link { .. }) => Ok(()),
        }
    }

    /// Creates a file or symlink.
    fn put(&mut self, path: &str, then: &FileState) -> io::Result<()> {
        match then {
            FileState::Absent | FileState::Folder { .. } | FileState::Unkept { .. } => return Ok(()),
            FileState::File { blob, mode, .. } => {
                let content = self.content(*blob)?;
                let place = self.place(path)?;
                self.workspace.about_to_restore();
                place.put(self.mark, |folder, name| write(folder, name, &content, *mode)?.sync_all())?;
            }
            FileState::Link { target, .. } => {
                let place = self.place(path)?;
                self.workspace.about_to_restore();
                place.put(self.mark, |folder, name| folder.symlink_contents(target, name))?;
            }
        }
        self.sync_later(path);
        Ok(())
    }

    pub(super) fn content(&self, blob: Hash) -> io::Result<Arc<[u8]>> {
        let lost = || io::Error::other("its former content is missing from the store");
        self.contents.get(&blob).cloned().ok_or_else(lost)
    }

    pub(super) fn make(&mut self, path: &str, change: &Change) -> io::Result<()> {
        self.may_replace(path, change)?;
        self.put(path, &change.now)
    }

    /// Fails where the file that is here has yet to be moved.
    pub(super) fn may_replace(&self, path: &str, change: &Change) -> io::Result<()> {
        if self.is_still_here(path, &change.was) && self.would_lose(path, &change.was) {
            return Err(io::Error::other(NOT_MOVED));
        }
        Ok(())
    }

    /// Removes what will be gone and was not moved: folders only if they are empty. Sets the permissions of the
    /// remaining folders, which might have prevented creating files in them.
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

    /// Removes a file, a symlink or an empty folder.
    pub(super) fn take_away(&mut self, path: &str) -> io::Result<()> {
        let place = self.place(path)?;
        let is_folder = place.parent.symlink_metadata(&place.name)?.is_dir();
        self.workspace.about_to_restore();
        if is_folder {
            place.parent.remove_dir(&place.name).map_err(not_empty)?;
        } else {
            place.parent.remove_file(&place.name)?;
        }
        self.sync_later(path);
        Ok(())
    }

    /// Returns the current path of the file that belongs at `path`: one of its names that it will lose, or its name
    /// aside.
    fn moved_from(&self, path: &str, then: &FileState) -> Option<String> {
        let names = self.sources(path, then).flat_map(|name| [name.to_owned(), self.aside(name)]);
        names.into_iter().find(|name| self.is_still_here(name, then))
    }

    /// Whether the file that belongs here is, or was, at another path.
    fn comes(&self, path: &str, then: &FileState) -> bool {
        self.sources(path, then).next().is_some()
    }

    fn sources<'s>(&'s self, path: &'s str, then: &'s FileState) -> impl Iterator<Item = &'s str> + 's {
        let goes = |change: &Change| change.was.is_same_thing(then) && !change.now.is_same_thing(then);
        let others = self.moves.left_by(then).filter(move |(other, change)| *other != path && goes(change));
        others.map(|(other, _)| other)
    }

    /// Whether the file that is here now will be at another path.
    pub(super) fn moves(&self, path: &str, was: &FileState) -> bool {
        self.destinations(path, was).next().is_some()
    }

    /// Whether the file that is here now will be at another path, and is not there yet.
    pub(super) fn would_lose(&self, path: &str, was: &FileState) -> bool {
        let is_there = |(other, change): (&str, &Change)| self.here(other).is_like(&change.now);
        self.moves(path, was) && !self.destinations(path, was).any(is_there)
    }

    fn destinations<'s>(
        &'s self,
        path: &'s str,
        was: &'s FileState,
    ) -> impl Iterator<Item = (&'s str, &'s Change)> + 's {
        self.moves.reached_by(was).filter(move |(other, change)| *other != path && change.now.is_same_thing(was))
    }

    pub(super) fn is_still_here(&self, path: &str, thing: &FileState) -> bool {
        self.here(path).is_same_thing(thing)
    }

    fn here(&self, path: &str) -> FileState {
        self.workspace.observe(path, &self.recorded, SnapshotBounds::PATHS.file_bytes, self.secrets).state
    }

    /// Moves a file to its destination, replacing a file there.
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
                self.sync_later(to);
                self.sync_later(from);
                Ok(RenameResult::Yes)
            }
        }
    }

    fn make_folder(&mut self, path: &str) -> io::Result<()> {
        let place = self.place(path)?;
        self.workspace.about_to_restore();
        match place.parent.create_dir(&place.name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => {
                self.sync_later(path);
                Ok(())
            }
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

/// Writes a new file, which the disk may not have yet.
pub(super) fn write(folder: &Dir, name: &str, content: &[u8], mode: u32) -> io::Result<File> {
    let mut file = folder.open_with(name, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(content)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}

fn not_empty(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::DirectoryNotEmpty {
        io::Error::other("other things are in it by now")
    } else {
        error
    }
}
