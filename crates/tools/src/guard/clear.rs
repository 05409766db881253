//! What a command has made and may not is cleared away when it has ended: set aside under names that mean nothing to
//! anybody. Not removed: a person may have made it meanwhile. Nothing of the command runs any more.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use windlass_sandbox::{Closed, Confinement, KeptLink, Rules, closed_since};

use super::wire::Cleared;
use crate::Permissions;
use crate::closing::Closing;

/// What the new names end with.
const ENDING: &str = ".set-aside";

/// What they begin with where the ending is not enough.
const BEGINNING: &str = "_";

/// The longest name that most file systems take.
const LONGEST_NAME: usize = 255;

/// How often a name that nobody can guess is tried; only others at work need a second.
const TRIES: usize = 16;

/// The rules by which is cleared away, made ready while the command runs.
pub(super) struct Clearing<'c> {
    confinement: &'c Confinement,
    workspace: &'c Path,
    permissions: Permissions,
    closing: Closing,
}

impl<'c> Clearing<'c> {
    /// What is to be cleared away after a command that is held to `confinement`, if anything is.
    pub(super) fn prepare(confinement: &'c Confinement) -> Option<Self> {
        let clearing = confinement.clearing.as_ref()?;
        let permissions = Closing::permissions(clearing);
        let closing = Closing::new(&permissions);
        Some(Self { confinement, workspace: &clearing.workspace, permissions, closing })
    }

    /// Puts kept links back, and sets aside what is protected and new.
    pub(super) fn clear_away(&self) -> Cleared {
        self.closing.with_rules(&self.permissions, self.workspace, |rules| {
            let mut clear = Clear { rules, cleared: Cleared::default() };
            self.confinement.links.iter().for_each(|link| clear.put_back(link));
            self.confinement.absent.iter().for_each(|path| clear.set_aside(path));
            let new = closed_since(self.workspace, rules, self.confinement);
            new.iter().for_each(|path| clear.set_aside(path));
            clear.cleared
        })
    }
}

struct Clear<'r> {
    rules: &'r Rules<'r>,
    cleared: Cleared,
}

impl Clear<'_> {
    /// Puts a link back that was changed. Where the folder is gone that it was in, so is what it led to under that name.
    fn put_back(&mut self, link: &KeptLink) {
        let is_folder =
            link.path.parent().is_some_and(|parent| parent.symlink_metadata().is_ok_and(|found| found.is_dir()));
        if !is_folder || link.path.read_link().is_ok_and(|target| target == link.target) {
            return;
        }
        self.set_aside(&link.path);
        match in_open_folder(&link.path, || symlink(&link.target, &link.path)) {
            Ok(()) => self.cleared.put_back.push(link.path.clone()),
            Err(error) => self.cleared.left.push((link.path.clone(), error.to_string())),
        }
    }

    fn set_aside(&mut self, path: &Path) {
        if path.symlink_metadata().is_err() {
            return;
        }
        // The path was without links: one on the way is new, leads who knows where, and is itself what goes.
        let is_link = |path: &&Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let path = path.ancestors().filter(is_link).last().unwrap_or(path);
        match in_open_folder(path, || self.rename_aside(path)) {
            Ok(free) => self.cleared.set_aside.push(free),
            Err(error) => self.cleared.left.push((path.to_owned(), error.to_string())),
        }
    }

    /// Renames `path` to a name that is free. That of a person's own is never taken.
    fn rename_aside(&self, path: &Path) -> io::Result<PathBuf> {
        let mut last = io::Error::from(io::ErrorKind::InvalidInput);
        for number in 0..TRIES {
            let mark = (number > 0).then(|| RandomState::new().hash_one(number));
            let free = self.aside(path, mark);
            match rename_to_free(path, &free) {
                Ok(()) => return Ok(free),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// The name that `path` has when it is set aside, with `mark` where it is not the first. One that a pattern still
    /// means begins with another letter.
    fn aside(&self, path: &Path, mark: Option<u64>) -> PathBuf {
        let ending = mark.map_or_else(|| ENDING.to_owned(), |mark| format!("{ENDING}-{mark:016x}"));
        let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        while name.len() + BEGINNING.len() + ending.len() > LONGEST_NAME {
            name.pop();
        }
        let aside = path.with_file_name(format!("{name}{ending}"));
        match (self.rules.closed)(&aside) {
            Closed::No => aside,
            Closed::ToReading | Closed::ToWriting => path.with_file_name(format!("{BEGINNING}{name}{ending}")),
        }
    }
}

/// Does what changes the folder that `path` is in, which a command may have closed to writing.
fn in_open_folder<T>(path: &Path, change: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let first = change();
    let Some(folder) = path.parent().filter(|_| first.is_err()) else { return first };
    let mode = folder.metadata()?.permissions();
    std::fs::set_permissions(folder, PermissionsExt::from_mode(mode.mode() | 0o700))?;
    let second = change();
    std::fs::set_permissions(folder, mode)?;
    second
}

#[cfg(target_os = "linux")]
fn rename_to_free(path: &Path, free: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, path, CWD, free, RenameFlags::NOREPLACE) {
        // Some file systems do not know of it.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => rename_if_free(path, free),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_to_free(path: &Path, free: &Path) -> io::Result<()> {
    rename_if_free(path, free)
}

fn rename_if_free(path: &Path, free: &Path) -> io::Result<()> {
    if free.symlink_metadata().is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists));
    }
    std::fs::rename(path, free)
}
