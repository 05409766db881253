//! The folders a command may write in, kept open since before it started.
//!
//! The cleanup after the command walks down from these handles name by name and follows no symlink. So it stays in
//! these folders, even if a command has replaced a folder or another process replaces one meanwhile.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

use crate::no_follow;

/// Handles on the folders a command may write in.
pub(super) struct WritableFolders(Vec<(PathBuf, io::Result<Dir>)>);

/// A name in a folder that is kept open.
pub(super) struct OpenLocation {
    folder: Dir,
    name: OsString,
    /// The path that led to it.
    pub(super) path: PathBuf,
}

/// What one name in a path refers to.
enum PathStep {
    Folder(Dir),
    Link,
    /// Nothing, or a file that is not a folder.
    End,
}

impl WritableFolders {
    /// Opens these folders, which are absolute paths without symlinks.
    pub(super) fn open(paths: &[PathBuf]) -> Self {
        Self(paths.iter().map(|path| (path.clone(), no_follow::open_absolute(path))).collect())
    }

    /// Returns the location of `path`, or of the first symlink in it; the `path` of the location shows which. Returns
    /// `None` outside these folders, where no command can have created anything, and if a folder of the path is
    /// missing.
    pub(super) fn place(&self, path: &Path) -> io::Result<Option<OpenLocation>> {
        let inside = self.0.iter().find_map(|(root, folder)| Some((root, folder, path.strip_prefix(root).ok()?)));
        let Some((root, folder, below)) = inside else { return Ok(None) };
        let folder = folder.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        let mut names = no_follow::names(below);
        let Some(first) = names.next().transpose()? else { return Ok(None) };
        let mut place = OpenLocation { folder: folder.try_clone()?, name: first.to_owned(), path: root.join(first) };
        for name in names {
            let name = name?;
            match place.next_step()? {
                PathStep::Folder(folder) => {
                    place = OpenLocation { folder, name: name.to_owned(), path: place.path.join(name) };
                }
                PathStep::Link => return Ok(Some(place)),
                PathStep::End => return Ok(None),
            }
        }
        Ok(Some(place))
    }
}

impl OpenLocation {
    fn next_step(&self) -> io::Result<PathStep> {
        match in_open_folder(&self.folder, || no_follow::open_subfolder(&self.folder, &self.name)) {
            Ok(folder) => Ok(PathStep::Folder(folder)),
            Err(error) if no_follow::is_no_folder(&error) && self.link_target().is_some() => Ok(PathStep::Link),
            Err(error) if no_follow::is_no_folder(&error) || is_out_of_reach(&error) => Ok(PathStep::End),
            Err(error) => Err(error),
        }
    }

    /// Whether a file exists there.
    pub(super) fn is_taken(&self) -> io::Result<bool> {
        match in_open_folder(&self.folder, || Ok(is_taken(&self.folder, &self.name)?)) {
            Err(error) if is_out_of_reach(&error) => Ok(false),
            taken => taken,
        }
    }

    /// Returns the target of the symlink there, or `None` if there is none.
    pub(super) fn link_target(&self) -> Option<PathBuf> {
        let target = in_open_folder(&self.folder, || Ok(rustix::fs::readlinkat(&self.folder, &self.name, Vec::new())?));
        target.ok().map(|target| OsString::from_vec(target.into_bytes()).into())
    }

    /// Creates a symlink there, if nothing exists there.
    pub(super) fn make_link(&self, target: &Path) -> io::Result<()> {
        in_open_folder(&self.folder, || Ok(rustix::fs::symlinkat(target, &self.folder, &self.name)?))
    }

    /// Renames the file to another name in the same folder, if that name is free.
    pub(super) fn rename(&self, free: &OsStr) -> io::Result<()> {
        in_open_folder(&self.folder, || rename_to_free(&self.folder, &self.name, &self.folder, free))
    }

    /// Moves the file into a new folder beside it, where it keeps its name.
    pub(super) fn move_into(&self, new: &OsStr) -> io::Result<()> {
        in_open_folder(&self.folder, || {
            rustix::fs::mkdirat(&self.folder, new, Mode::RWXU)?;
            let moved = no_follow::open_subfolder(&self.folder, new)
                .and_then(|inner| rename_to_free(&self.folder, &self.name, &inner, &self.name));
            if moved.is_err() {
                // The folder is empty, unless another process uses it.
                let _ = rustix::fs::unlinkat(&self.folder, new, AtFlags::REMOVEDIR);
            }
            moved
        })
    }

    /// Removes all permissions of the file. Skips a symlink, which has none, and a file with several hard links: the
    /// other name may be anywhere.
    pub(super) fn close_to_all(&self) -> io::Result<()> {
        if self.link_target().is_some() {
            return Ok(());
        }
        let opened = in_open_folder(&self.folder, || no_follow::open_any(&self.folder, &self.name))?;
        let found = rustix::fs::fstat(&opened)?;
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        if is_folder || found.st_nlink == 1 { set_mode(&opened, Mode::empty()) } else { Ok(()) }
    }
}

/// Whether the error means that no file of the command can be there: the file does not exist, or its folder belongs to
/// another user, so that neither this process nor the command can change the folder's permissions.
fn is_out_of_reach(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || Errno::from_io_error(error) == Some(Errno::PERM)
}

/// Runs `act` in a folder whose permissions a command may have removed, restoring them for the moment.
fn in_open_folder<T>(folder: &Dir, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let first = act();
    if !first.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        return first;
    }
    let mode = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode);
    set_mode(folder, mode | Mode::RWXU)?;
    let second = act();
    set_mode(folder, mode)?;
    second
}

/// Sets the mode through `/proc/self/fd`, because `fchmod` fails on a handle opened with `O_PATH`.
#[cfg(target_os = "linux")]
fn set_mode(opened: impl AsFd, mode: Mode) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd());
    Ok(rustix::fs::chmod(link, mode)?)
}

#[cfg(not(target_os = "linux"))]
fn set_mode(opened: impl AsFd, mode: Mode) -> io::Result<()> {
    Ok(rustix::fs::fchmod(opened, mode)?)
}

fn is_taken(folder: &Dir, name: &OsStr) -> Result<bool, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(false),
        found => found.map(|_| true),
    }
}

#[cfg(target_os = "linux")]
fn rename_to_free(from: &Dir, name: &OsStr, to: &Dir, free: &OsStr) -> io::Result<()> {
    match rustix::fs::renameat_with(from, name, to, free, rustix::fs::RenameFlags::NOREPLACE) {
        // Some file systems do not support it.
        Err(Errno::INVAL | Errno::NOSYS) => rename_if_free(from, name, to, free),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_to_free(from: &Dir, name: &OsStr, to: &Dir, free: &OsStr) -> io::Result<()> {
    rename_if_free(from, name, to, free)
}

fn rename_if_free(from: &Dir, name: &OsStr, to: &Dir, free: &OsStr) -> io::Result<()> {
    if is_taken(to, free)? {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    Ok(rustix::fs::renameat(from, name, to, free)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A workspace with `a/.profile` in it, and a home folder with the person's own `.profile`.
    fn room() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (workspace, home) = (root.join("workspace"), root.join("home"));
        for path in [workspace.join("a"), home.clone()] {
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join(".profile"), "").unwrap();
        }
        (folder, workspace, home)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Replaces `folder` by a symlink to `home`.
    fn exchange(folder: &Path, home: &Path) {
        std::fs::rename(folder, folder.with_extension("was")).unwrap();
        symlink(home, folder).unwrap();
    }

    // proves X3: a folder is replaced by a symlink between the check of a path and the change there
    #[test]
    fn what_is_exchanged_for_a_link_meanwhile_is_not_followed() {
        let (_folder, workspace, home) = room();
        let path = workspace.join("a/.profile");
        let folders = WritableFolders::open(std::slice::from_ref(&workspace));
        let place = folders.place(&path).unwrap().unwrap();
        assert!(place.path == path && place.is_taken().unwrap());
        exchange(&workspace.join("a"), &home);
        place.rename(OsStr::new("free")).unwrap();
        place.make_link(Path::new("/evil")).unwrap();
        place.move_into(OsStr::new("inner")).unwrap();
        assert_eq!(
            (names(&home), names(&workspace.join("a.was"))),
            (vec![".profile".into()], vec!["free".into(), "inner".into()])
        );
        // A new lookup finds the symlink itself.
        let place = folders.place(&path).unwrap().unwrap();
        assert_eq!((&place.path, place.link_target()), (&workspace.join("a"), Some(home)));
    }

    // proves X3
    #[test]
    fn a_folder_that_is_held_open_is_the_one_it_was() {
        let (_folder, workspace, home) = room();
        let folders = WritableFolders::open(std::slice::from_ref(&workspace));
        exchange(&workspace, &home);
        let place = folders.place(&workspace.join(".profile")).unwrap().unwrap();
        assert!(!place.is_taken().unwrap());
        // A folder reached through a symlink is not opened: the lookup returns an error.
        let folders = WritableFolders::open(std::slice::from_ref(&workspace));
        assert!(folders.place(&workspace.join(".profile")).is_err());
    }

    // proves X3
    #[test]
    fn what_is_in_no_such_folder_has_no_place() {
        let (_folder, workspace, home) = room();
        std::fs::write(workspace.join("file"), "").unwrap();
        let folders = WritableFolders::open(std::slice::from_ref(&workspace));
        for path in [home.join(".profile"), workspace.clone(), workspace.join("none/x"), workspace.join("file/x")] {
            assert!(folders.place(&path).unwrap().is_none(), "{}", path.display());
        }
        assert!(folders.place(&workspace.join("../home/.profile")).is_err());
    }

    // proves X3: another hard link of a file may be outside
    #[test]
    fn the_rights_to_what_has_another_name_stay() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, workspace, home) = room();
        std::fs::hard_link(home.join(".profile"), workspace.join("linked")).unwrap();
        symlink(home.join(".profile"), workspace.join("link")).unwrap();
        let folders = WritableFolders::open(std::slice::from_ref(&workspace));
        for name in ["linked", "link", "a"] {
            folders.place(&workspace.join(name)).unwrap().unwrap().close_to_all().unwrap();
        }
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert!(mode(&home.join(".profile")) != 0 && mode(&workspace.join("a")) == 0);
    }

    // proves X3
    #[test]
    fn a_folder_that_a_command_has_closed_is_opened_for_the_moment() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, workspace, _) = room();
        let folders = WritableFolders::open(std::slice::from_ref(&workspace));
        for (closed, free) in [(0o555, "x"), (0o311, "y"), (0o000, "z")] {
            let folder = workspace.join("a");
            std::fs::write(folder.join(".profile"), "").unwrap();
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(closed)).unwrap();
            let place = folders.place(&folder.join(".profile")).unwrap().unwrap();
            assert!(place.is_taken().unwrap());
            place.rename(OsStr::new(free)).unwrap();
            assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, closed);
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
            assert!(folder.join(free).exists());
        }
    }

    // proves X3
    #[test]
    fn no_name_that_is_taken_is_given() {
        let (_folder, workspace, _) = room();
        std::fs::create_dir(workspace.join("a/taken")).unwrap();
        let folders = WritableFolders::open(std::slice::from_ref(&workspace));
        let place = folders.place(&workspace.join("a/.profile")).unwrap().unwrap();
        let taken = OsStr::new("taken");
        for answer in [place.rename(taken), place.move_into(taken), place.make_link(Path::new("x"))] {
            assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        let dir = Dir::open_ambient_dir(workspace.join("a"), cap_std::ambient_authority()).unwrap();
        let answer = rename_if_free(&dir, OsStr::new(".profile"), &dir, taken);
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(&workspace.join("a")), [".profile", "taken"]);
    }
}
