//! Putting files back, one step per path. Each step looks first: what is as it will be is done, what is
//! as it was is changed, and anything else is somebody else's and left alone. So the whole may be done
//! again after a crash between any two steps, and inside one: a file is replaced in one rename.
//!
//! The order: what gives way goes first, the deepest first; then folders are made and what was only moved is
//! moved back, the highest first, so that it stays the thing it was, with all its names; then the other files
//! and links are made; last goes what is to be gone and could not go before: folders, if they are empty.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::{Dir, OpenOptions, Permissions, PermissionsExt};
use windlass_vocab::{Change, Changes, FileState, Hash};

use super::Bounds;
use crate::place::{Place, sync_folder};
use crate::{Secrets, Workspace};

const NOT_MOVED: &str = "it could not be moved back";

/// What a path needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Nothing,
    Work,
}

/// Files being put back.
struct Restoring<'a> {
    workspace: &'a Workspace,
    changes: &'a Changes,
    contents: &'a HashMap<Hash, Arc<[u8]>>,
    secrets: &'a Secrets,
    /// What an unfinished file is called, so that a second try clears it away.
    unfinished: String,
    left_alone: BTreeMap<String, String>,
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
        let unfinished = format!(".windlass-{mark}.tmp");
        let left_alone = BTreeMap::new();
        let mut restoring = Restoring { workspace: self, changes, contents, secrets, unfinished, left_alone };
        for (path, change) in changes.iter().rev() {
            restoring.step(path, change, Restoring::give_way);
        }
        for (path, change) in changes {
            restoring.step(path, change, Restoring::bring);
        }
        for (path, change) in changes {
            restoring.step(path, change, Restoring::make);
        }
        for (path, change) in changes.iter().rev() {
            restoring.step(path, change, Restoring::leave);
        }
        restoring.left_alone
    }
}

impl Restoring<'_> {
    fn step(&mut self, path: &str, change: &Change, work: fn(&mut Self, &str, &Change) -> io::Result<()>) {
        if self.left_alone.contains_key(path) {
            return;
        }
        let done = match self.need(path, change) {
            Ok(Need::Nothing) => return,
            Ok(Need::Work) => work(self, path, change).map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        if let Err(why) = done {
            self.left_alone.insert(path.to_owned(), why);
        }
    }

    /// Whether there is something to do, or somebody else was faster.
    fn need(&self, path: &str, change: &Change) -> Result<Need, String> {
        if !self.workspace.is_plain(Path::new(path)) {
            return Err("it is no longer reached without a link".to_owned());
        }
        let here = self.here(path);
        let (was, then) = (&change.was, &change.now);
        if here.is_like(then) {
            return Ok(Need::Nothing);
        }
        // A folder is made before its permissions are set, and goes only when it is empty.
        let is_folder = here.is_folder() && (then.is_folder() || was.is_folder() && !then.exists());
        // Where a folder takes the place of a file, or a file that of a folder, there is nothing for a moment.
        let gave_way = !here.exists() && was.is_folder() != then.is_folder();
        // What was moved onto another file is moved away before that one is made again.
        let moved_away = !here.exists() && then.exists() && self.moved_to(was).is_some();
        if is_folder || gave_way || moved_away || here.is_like(was) {
            Ok(Need::Work)
        } else {
            Err("it was changed meanwhile".to_owned())
        }
    }

    /// Takes away what is in the way: a file that goes, and what makes room for another kind of thing.
    fn give_way(&mut self, path: &str, change: &Change) -> io::Result<()> {
        let (was, then) = (&change.was, &change.now);
        let another_kind = then.exists() && was.exists() && was.is_folder() != then.is_folder();
        let goes = !then.exists() && !was.is_folder() && self.moved_to(was).is_none();
        let is_there = self.workspace.dir().symlink_metadata(path).is_ok();
        if !is_there || !goes && !another_kind {
            return Ok(());
        }
        let place = self.place(path)?;
        self.workspace.about_to_restore();
        if was.is_folder() {
            place.parent.remove_dir(&place.name).map_err(not_empty)?;
        } else {
            place.parent.remove_file(&place.name)?;
        }
        sync_folder(&place.parent)
    }

    /// Makes folders, and moves back what was moved.
    fn bring(&mut self, path: &str, change: &Change) -> io::Result<()> {
        match (self.moved_from(&change.now).map(str::to_owned), &change.now) {
            (_, FileState::Absent) => Ok(()),
            (Some(from), FileState::Folder { .. } | FileState::Unkept { .. }) => self.move_back(&from, path),
            (Some(from), FileState::File { .. } | FileState::Link { .. }) => {
                // One that can't be moved is made anew.
                let _ = self.move_back(&from, path);
                Ok(())
            }
            (None, FileState::Folder { .. }) => self.make_folder(path),
            (None, FileState::Unkept { .. }) => Err(io::Error::other("its content was not kept")),
            (None, FileState::File { .. } | FileState::Link { .. }) => Ok(()),
        }
    }

    /// Makes files and links.
    fn make(&mut self, path: &str, change: &Change) -> io::Result<()> {
        let moves = matches!(change.was, FileState::Unkept { .. }) && self.moved_to(&change.was).is_some();
        if moves && self.is_still_here(path, &change.was) {
            // It could not be moved back, and its content is nowhere else.
            return Err(io::Error::other(NOT_MOVED));
        }
        match &change.now {
            FileState::Absent | FileState::Folder { .. } | FileState::Unkept { .. } => Ok(()),
            FileState::File { blob, mode, .. } => {
                let lost = || io::Error::other("its former content is missing from the store");
                let content = self.contents.get(blob).cloned().ok_or_else(lost)?;
                let place = self.place(path)?;
                self.workspace.about_to_restore();
                self.replace(&place, |folder, name| write(folder, name, &content, *mode))
            }
            FileState::Link { target, .. } => {
                let place = self.place(path)?;
                self.workspace.about_to_restore();
                self.replace(&place, |folder, name| folder.symlink_contents(target, name))
            }
        }
    }

    /// Takes away what will not be there and was not moved: folders if nothing else is in them. Gives the
    /// others their permissions, which might have kept things from being put in.
    fn leave(&mut self, path: &str, change: &Change) -> io::Result<()> {
        let place = self.place(path)?;
        match (&change.was, &change.now) {
            (_, FileState::Folder { mode, .. }) => {
                self.workspace.about_to_restore();
                place.parent.set_permissions(&place.name, Permissions::from_mode(*mode))
            }
            (FileState::Folder { .. } | FileState::Unkept { .. }, FileState::Absent)
                if self.moved_to(&change.was).is_some() =>
            {
                Err(io::Error::other(NOT_MOVED))
            }
            (FileState::File { .. } | FileState::Link { .. }, FileState::Absent) => {
                self.workspace.about_to_restore();
                place.parent.remove_file(&place.name)?;
                sync_folder(&place.parent)
            }
            (FileState::Folder { .. }, FileState::Absent) => {
                self.workspace.about_to_restore();
                place.parent.remove_dir(&place.name).map_err(not_empty)?;
                sync_folder(&place.parent)
            }
            (_, FileState::Absent | FileState::File { .. } | FileState::Link { .. } | FileState::Unkept { .. }) => {
                Ok(())
            }
        }
    }

    /// Where the thing is now that will be here: one of its names that it will not keep.
    fn moved_from(&self, then: &FileState) -> Option<&str> {
        let goes = |change: &Change| change.was.is_same_thing(then) && !change.now.is_same_thing(then);
        let names = self.changes.iter().filter(|(_, change)| goes(change)).map(|(path, _)| path.as_str());
        names.into_iter().find(|path| self.is_still_here(path, then))
    }

    fn is_still_here(&self, path: &str, thing: &FileState) -> bool {
        self.here(path).is_same_thing(thing)
    }

    fn here(&self, path: &str) -> FileState {
        self.workspace.look_plainly(path, Bounds::PATHS.file_bytes, self.secrets).state
    }

    /// Where the thing will be that is here now.
    fn moved_to(&self, was: &FileState) -> Option<&str> {
        self.changes.iter().find(|(_, change)| change.now.is_same_thing(was)).map(|(path, _)| path.as_str())
    }

    fn move_back(&mut self, from: &str, to: &str) -> io::Result<()> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        self.workspace.about_to_restore();
        source.rename_new(&target)?;
        sync_folder(&target.parent).and_then(|()| sync_folder(&source.parent))
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

    /// Makes something beside its place and moves it there in one step.
    fn replace(&self, place: &Place, make: impl FnOnce(&Dir, &str) -> io::Result<()>) -> io::Result<()> {
        let unfinished = self.unfinished.as_str();
        match place.parent.remove_file(unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let made =
            make(&place.parent, unfinished).and_then(|()| place.parent.rename(unfinished, &place.parent, &place.name));
        if let Err(error) = made {
            // The first error is the one that matters.
            let _ = place.parent.remove_file(unfinished);
            return Err(error);
        }
        sync_folder(&place.parent)
    }

    fn place(&self, path: &str) -> io::Result<Place> {
        let path = Path::new(path);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Place { parent: self.workspace.dir().open_dir(parent)?, name: name.to_owned() })
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
