//! Opens paths without following symlinks (X5). Permission is checked for a path with its symlinks resolved; these
//! functions open exactly that path, even if a command replaces part of it by a symlink meanwhile.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A handle used only to look up names needs no permission to list the folder.
#[cfg(target_os = "linux")]
const LOOK_UP: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK_UP: OFlags = OFlags::RDONLY;

/// Opens the folder at the absolute `path`, one name after another.
pub(crate) fn open_absolute(path: &Path) -> io::Result<Dir> {
    let below = path.strip_prefix("/").map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let root = rustix::fs::open("/", LOOK_UP | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    open_folder(&Dir::from_std_file(root.into()), below)
}

/// Opens the folder at `path`, one name after another.
pub(crate) fn open_folder(from: &Dir, path: &Path) -> io::Result<Dir> {
    let mut folder = from.try_clone()?;
    for name in names(path) {
        folder = open_subfolder(&folder, name?)?;
    }
    Ok(folder)
}

/// Returns the names in `path`. `..` is an error, because it could lead out of the workspace.
pub(crate) fn names(path: &Path) -> impl Iterator<Item = io::Result<&OsStr>> {
    path.components().filter(|part| *part != Component::CurDir).map(|part| match part {
        Component::Normal(name) => Ok(name),
        Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    })
}

/// Opens the subfolder of this name.
pub(crate) fn open_subfolder(folder: &Dir, name: &OsStr) -> io::Result<Dir> {
    let flags = LOOK_UP | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    Ok(Dir::from_std_file(opened.into()))
}

/// Opens the entry of this name as a reference to it, not for reading.
pub(crate) fn open_any(folder: &Dir, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = LOOK_UP | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

/// Opens the file of this name for reading, without waiting for the other end of a pipe.
pub(crate) fn open_file(folder: &Dir, name: &OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed());
    folder.open_with(name, &options)
}

/// Whether opening failed because the path is a symlink, or leads through one or through a file.
pub(crate) fn is_no_folder(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory || Errno::from_io_error(error) == Some(Errno::LOOP)
}
