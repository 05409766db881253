//! Cleanup after a command: files that the command created but may not create are set aside under names that no program
//! looks for. They are not removed, because a person may have created them meanwhile. No process of the command runs
//! any more, but others may run in the same folders, so all access goes through the handles of [`WritableFolders`].

use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use windlass_sandbox::{Confinement, PathAccess, PathRules, ProtectedLink, new_closed_paths};

use super::wire::CleanupReport;
use super::writable_folders::{OpenLocation, WritableFolders};
use crate::Permissions;
use crate::closed_paths::ClosedPaths;

/// The suffix of the new names.
const ENDING: &str = ".set-aside";

/// The prefix of the new names where the suffix is not enough.
const BEGINNING: &str = "_";

/// The longest name that most file systems accept.
const LONGEST_NAME: usize = 255;

/// How many names are tried. Later ones are random; they are needed only when another process races.
const TRIES: usize = 16;

/// The cleanup rules, prepared while the command runs.
pub(super) struct Cleanup<'c> {
    confinement: &'c Confinement,
    workspace: &'c Path,
    permissions: Permissions,
    closed_paths: ClosedPaths,
    folders: WritableFolders,
}

impl<'c> Cleanup<'c> {
    /// Returns the cleanup for a command that runs under `confinement`, or `None` if there is nothing to do. `folders`
    /// are the folders it may write in.
    pub(super) fn prepare(confinement: &'c Confinement, folders: WritableFolders) -> Option<Self> {
        let cleanup = confinement.cleanup.as_ref().filter(|_| !confinement.writable.is_empty())?;
        let permissions = ClosedPaths::permissions_of(cleanup);
        let closed_paths = ClosedPaths::new(&permissions);
        Some(Self { confinement, workspace: &cleanup.workspace, permissions, closed_paths, folders })
    }

    /// Restores protected symlinks, and sets aside new files at protected paths.
    pub(super) fn clean_up(&self) -> CleanupReport {
        self.closed_paths.with_rules(&self.permissions, self.workspace, |rules| {
            let mut run = CleanupRun { rules, folders: &self.folders, report: CleanupReport::default() };
            self.confinement.links.iter().for_each(|link| run.put_back(link));
            self.confinement.absent.iter().for_each(|path| run.set_aside(path));
            let new = new_closed_paths(self.workspace, rules, self.confinement);
            new.iter().for_each(|path| run.set_aside(path));
            run.report
        })
    }
}

struct CleanupRun<'r> {
    rules: &'r PathRules<'r>,
    folders: &'r WritableFolders,
    report: CleanupReport,
}

/// How a file is set aside.
#[derive(Debug, PartialEq, Eq)]
enum SetAsideMethod {
    /// Under another name.
    Renamed,
    /// Under its own name in a new folder, where the rule that denies reading it still matches.
    InFolder,
    /// Under another name that no rule protects from reading, and so with all permissions removed.
    WithoutRights,
}

impl CleanupRun<'_> {
    /// Restores a symlink that was changed. If its folder is gone, nothing is restored: its target can't be reached by
    /// that path either.
    fn put_back(&mut self, link: &ProtectedLink) {
        let done = self.folders.place(&link.path).and_then(|place| match place {
            // A symlink has replaced a folder above it: set that symlink aside.
            Some(place) if place.path != link.path => self.set_aside_at(&place),
            Some(place) if place.link_target().as_ref() != Some(&link.target) => {
                self.set_aside_at(&place)?;
                place.make_link(&link.target)?;
                self.report.put_back.push(link.path.clone());
                Ok(())
            }
            Some(_) | None => Ok(()),
        });
        self.record_failure(&link.path, done);
    }

    /// Sets aside the file at `path`. The path had no symlinks, so a symlink in it is new and untrusted, and is itself
    /// set aside.
    fn set_aside(&mut self, path: &Path) {
        let done = self.folders.place(path).and_then(|place| place.map_or(Ok(()), |place| self.set_aside_at(&place)));
        self.record_failure(path, done);
    }

    fn record_failure(&mut self, path: &Path, done: io::Result<()>) {
        if let Err(error) = done {
            // The report is JSON, which can't hold a name that is not UTF-8.
            self.report.left.push((PathBuf::from(&*path.to_string_lossy()), error.to_string()));
        }
    }

    /// Renames the file at `place`, if there is one, to a free name. Never overwrites an existing file.
    fn set_aside_at(&mut self, place: &OpenLocation) -> io::Result<()> {
        if !place.is_taken()? {
            return Ok(());
        }
        let mut last = io::Error::from(io::ErrorKind::InvalidInput);
        for number in 0..TRIES {
            let mark = (number > 0).then(|| RandomState::new().hash_one(number));
            let free = self.free_path(&place.path, mark);
            match self.move_aside(place, &free) {
                Ok(()) => {
                    self.report.set_aside.push(free);
                    return Ok(());
                }
                // Another process has moved it already.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn move_aside(&self, place: &OpenLocation, free: &Path) -> io::Result<()> {
        let name = free.file_name().unwrap_or_default();
        match self.set_aside_method(&place.path, free) {
            SetAsideMethod::Renamed => place.rename(name),
            SetAsideMethod::InFolder => match place.move_into(name) {
                // A read-only folder can be renamed, but not moved.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => set_aside_without_rights(place, name),
                moved => moved,
            },
            SetAsideMethod::WithoutRights => set_aside_without_rights(place, name),
        }
    }

    /// Returns how to set `path` aside as `free`. A file that may not be read may be the person's own, created
    /// meanwhile: it must not become readable under its new name.
    fn set_aside_method(&self, path: &Path, free: &Path) -> SetAsideMethod {
        let closed = |path: &Path| (self.rules.access_to)(path);
        match closed(path) {
            PathAccess::Open | PathAccess::ReadOnly => SetAsideMethod::Renamed,
            PathAccess::Hidden if closed(&free.join(path.file_name().unwrap_or_default())) == PathAccess::Hidden => {
                SetAsideMethod::InFolder
            }
            PathAccess::Hidden => SetAsideMethod::WithoutRights,
        }
    }

    /// Returns the path of `path` after it is set aside, with `mark` in it for a retry. A name that a pattern still
    /// matches gets a prefix as well.
    fn free_path(&self, path: &Path, mark: Option<u64>) -> PathBuf {
        let ending = mark.map_or_else(|| ENDING.to_owned(), |mark| format!("{ENDING}-{mark:016x}"));
        let mut name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
        while name.len() + BEGINNING.len() + ending.len() > LONGEST_NAME {
            name.pop();
        }
        let free = path.with_file_name(format!("{name}{ending}"));
        match (self.rules.access_to)(&free) {
            PathAccess::Open => free,
            PathAccess::Hidden | PathAccess::ReadOnly => path.with_file_name(format!("{BEGINNING}{name}{ending}")),
        }
    }
}

fn set_aside_without_rights(place: &OpenLocation, name: &OsStr) -> io::Result<()> {
    place.close_to_all()?;
    place.rename(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A workspace `w`, a home folder `h`, and the confinement of a command in the workspace.
    struct CleanupFixture {
        root: tempfile::TempDir,
        confinement: Confinement,
    }

    impl CleanupFixture {
        fn new(files: &[&str]) -> Self {
            let root = tempfile::tempdir_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
            let workspace = root.path().join("w");
            for folder in ["w", "h"] {
                std::fs::create_dir(root.path().join(folder)).unwrap();
            }
            for file in files {
                let path = root.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            let denied = ["read(**/.env)", "read(w.key)"].map(str::to_owned).to_vec();
            let cleanup = windlass_sandbox::CleanupRules { workspace: workspace.clone(), denied, ..Default::default() };
            let writable = vec![workspace];
            Self { root, confinement: Confinement { writable, cleanup: Some(cleanup), ..Default::default() } }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.root.path().join(path)
        }

        /// Cleans up after `command`.
        fn after(&self, command: impl FnOnce()) -> CleanupReport {
            let folders = WritableFolders::open(&self.confinement.writable);
            command();
            Cleanup::prepare(&self.confinement, folders).unwrap().clean_up()
        }
    }

    // proves X3: a symlink that a project ships was restored in the home folder
    #[test]
    fn no_link_is_put_back_through_a_link_above_it() {
        let mut room = CleanupFixture::new(&["w/f/home/x", "h/home/x"]);
        let link = ProtectedLink { path: room.path("w/f/home/.bash_profile"), target: "../w/rc".into() };
        symlink(&link.target, &link.path).unwrap();
        room.confinement.links.push(link);
        let report = room.after(|| {
            std::fs::rename(room.path("w/f"), room.path("w/f2")).unwrap();
            symlink(room.path("h"), room.path("w/f")).unwrap();
        });
        assert!(room.path("h/home/.bash_profile").symlink_metadata().is_err());
        assert!(report.set_aside.contains(&room.path("w/f.set-aside")), "{report:?}");
        assert_eq!((report.put_back, report.left), (Vec::new(), Vec::new()));
    }

    // proves X3: even if the confinement lists it
    #[test]
    fn what_is_outside_all_that_a_command_writes_is_not_touched() {
        let mut room = CleanupFixture::new(&["h/.pgpass", "h/.env"]);
        room.confinement.absent = vec![room.path("h/.pgpass"), room.path("h/.env"), room.path("w/l/.pgpass")];
        room.confinement.links = vec![ProtectedLink { path: room.path("h/link"), target: "x".into() }];
        let report = room.after(|| symlink(room.path("h"), room.path("w/l")).unwrap());
        assert_eq!(report, CleanupReport { set_aside: vec![room.path("w/l.set-aside")], ..CleanupReport::default() });
        assert_eq!(room.path("h").read_dir().unwrap().count(), 2);
        // A command that may write nowhere has created nothing.
        room.confinement.writable.clear();
        assert!(Cleanup::prepare(&room.confinement, WritableFolders::open(&[])).is_none());
    }

    // proves X3: a person's own file, created while a command ran
    #[test]
    fn what_may_not_be_read_is_not_readable_by_another_name() {
        let room = CleanupFixture::new(&[]);
        let report = room.after(|| {
            for file in [".env", "w.key", ".envrc"] {
                std::fs::write(room.path("w").join(file), "a-secret").unwrap();
            }
        });
        assert_eq!((report.set_aside.len(), report.left.len()), (3, 0), "{report:?}");
        assert_eq!(std::fs::read_to_string(room.path("w/.env.set-aside/.env")).unwrap(), "a-secret");
        let mode = |path: &str| room.path(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("w/w.key.set-aside"), 0, "no rule means it there");
        assert_ne!(mode("w/.envrc.set-aside"), 0, "it may be read");
    }
}
