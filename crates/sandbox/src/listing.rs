//! Lists a folder without following any symlink in its path: another command may replace a folder by a symlink while
//! the workspace is scanned.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

/// An entry of a folder.
pub(crate) struct FolderEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

/// Returns the entries of the folder at `path`, which contains no symlinks.
pub(crate) fn list(path: &Path) -> io::Result<impl Iterator<Item = FolderEntry> + use<>> {
    let folder = open(path, OFlags::RDONLY)?;
    let entries = Dir::read_from(&folder)?;
    Ok(entries.map_while(Result::ok).filter_map(move |entry| {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            return None;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?.st_mode)
            }
            kind => kind,
        };
        Some(FolderEntry { name: OsStr::from_bytes(name.to_bytes()).to_owned(), kind })
    }))
}

/// Makes the folder at `path`, which contains no symlinks, listable by its owner.
#[cfg(target_os = "linux")]
pub(crate) fn make_listable(path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let folder = open(path, OFlags::PATH)?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&folder)?.st_mode) | Mode::RWXU;
    // A descriptor opened with `O_PATH` does not support `fchmod`, but its `/proc` path can be changed.
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode)?)
}

/// Makes the folder at `path`, which contains no symlinks, listable by its owner.
#[cfg(not(target_os = "linux"))]
pub(crate) fn make_listable(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let flags = flags | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6, and an outer sandbox, refuse `openat2`.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => open_last(path, flags),
        opened => Ok(opened?),
    }
}

#[cfg(not(target_os = "linux"))]
fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    open_last(path, flags | OFlags::DIRECTORY | OFlags::CLOEXEC)
}

/// Opens the folder; does not follow a symlink in its last component.
fn open_last(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X3
    #[test]
    fn a_folder_that_a_link_leads_to_is_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        let names =
            |path: &str| list(&root.join(path)).map(|entries| entries.map(|entry| entry.name).collect::<Vec<_>>());
        assert_eq!(names("a/b").unwrap(), ["file"]);
        assert!(names("link").is_err() && names("link/b").is_err() && names("none").is_err());
        let kinds: Vec<_> = list(&root).unwrap().map(|entry| (entry.name, entry.kind)).collect();
        assert!(
            kinds.contains(&("a".into(), FileType::Directory)) && kinds.contains(&("link".into(), FileType::Symlink))
        );
    }
}
