//! The file system that a command sees: read-only except where it may write, with its own devices, `/proc` and
//! temporary folder, and without secrets.
//!
//! Each folder above a protected path is bind-mounted onto itself too: a mount point can't be renamed, so that no
//! command can replace the folder by another.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change, mount_remount,
};

use super::OrExplain;
use crate::Confinement;
use crate::places::{DEVICES, HIDDEN_FOLDERS, TEMP};

/// The empty file and folder that cover paths that may not be read.
const NO_FILE: &str = "/dev/.hidden/file";
const NO_FOLDER: &str = "/dev/.hidden/folder";

/// Sets up the mounts for `confinement`. The caller is the first process of its PID namespace.
pub(crate) fn build(confinement: &Confinement) -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).or_explain("make mounts private")?;
    let before = mount_points()?;
    for folder in confinement.writable.iter().chain([&confinement.temp]) {
        mount_bind_recursive(folder, folder).or_explain_at("open", folder)?;
    }
    let shown_again = shown_again(confinement)?;
    let temp = open_path(&confinement.temp)?;
    make_read_only(&before, confinement);
    let devices = open_devices();
    tmpfs("/dev", c"mode=755")?;
    fill_devices(&devices)?;
    for folder in HIDDEN_FOLDERS.iter().map(Path::new).filter(|folder| folder.is_dir()) {
        tmpfs(folder, c"mode=755")?;
        show_again(folder, &shown_again)?;
        remount(folder, StatVfsMountFlags::RDONLY)?;
    }
    if let Ok(folder) = Path::new(TEMP).canonicalize() {
        mount_bind(descriptor_path(&temp), &folder).or_explain_at("make", &folder)?;
        show_again(&folder, &shown_again)?;
    }
    remount("/dev", StatVfsMountFlags::RDONLY)?;
    subtract(confinement)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", "/proc", "proc", flags, None).or_explain("mount /proc")
}

/// A file or folder that stays open while its path is hidden.
struct OpenPath {
    path: PathBuf,
    handle: File,
}

fn open_path(path: &Path) -> io::Result<OpenPath> {
    let handle = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).or_explain_at("find", path)?;
    Ok(OpenPath { path: path.to_owned(), handle: handle.into() })
}

fn descriptor_path(held: &OpenPath) -> String {
    format!("/proc/self/fd/{}", held.handle.as_raw_fd())
}

/// Opens the paths that must be visible again after their folder was hidden.
fn shown_again(confinement: &Confinement) -> io::Result<Vec<OpenPath>> {
    let hidden = |path: &&PathBuf| HIDDEN_FOLDERS.iter().chain([&TEMP]).any(|folder| path.starts_with(folder));
    let there = confinement.writable.iter().chain(confinement.readable.iter().filter(|path| path.exists()));
    // A folder comes before its contents, which it would cover.
    let paths: BTreeSet<&PathBuf> = there.filter(hidden).collect();
    paths.into_iter().map(|path| open_path(path)).collect()
}

fn show_again(folder: &Path, shown_again: &[OpenPath]) -> io::Result<()> {
    for held in shown_again.iter().filter(|held| held.path.starts_with(folder) && held.path != folder) {
        let is_folder = held.handle.metadata()?.is_dir();
        if let Some(parent) = held.path.parent() {
            fs::create_dir_all(parent)?;
        }
        if is_folder {
            fs::create_dir_all(&held.path)?;
        } else {
            File::create(&held.path)?;
        }
        mount_bind_recursive(descriptor_path(held), &held.path).or_explain_at("show", &held.path)?;
    }
    Ok(())
}

/// Returns all mount points, from the kernel's own list. It writes a space in a name as `\040`.
fn mount_points() -> io::Result<Vec<PathBuf>> {
    let list = fs::read_to_string("/proc/self/mountinfo").or_explain("list mounts")?;
    let point = |line: &str| Some(PathBuf::from(unescape(line.split(' ').nth(4)?)));
    Ok(list.lines().filter_map(point).collect())
}

fn unescape(field: &str) -> String {
    ["\\040 ", "\\011\t", "\\012\n", "\\134\\"]
        .iter()
        .fold(field.to_owned(), |text, pair| text.replace(&pair[..4], &pair[4..]))
}

/// Makes these mounts read-only. A mount that can't be changed (because another covers it) stays as it is: Landlock
/// refuses writes there.
fn make_read_only(mounts: &[PathBuf], confinement: &Confinement) {
    let writable = |path: &&PathBuf| confinement.writable.iter().any(|folder| path.starts_with(folder));
    for path in mounts.iter().filter(|path| !writable(path)) {
        let _ = remount(path, StatVfsMountFlags::RDONLY);
    }
}

/// Remounts with these flags besides the current ones, which a user namespace may not remove.
fn remount(path: impl AsRef<Path>, more: StatVfsMountFlags) -> io::Result<()> {
    let path = path.as_ref();
    let flags = rustix::fs::statvfs(path).or_explain_at("look at", path)?.f_flag | more;
    let pairs = [
        (StatVfsMountFlags::RDONLY, MountFlags::RDONLY),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let flags =
        pairs.iter().filter(|(have, _)| flags.contains(*have)).fold(MountFlags::BIND, |all, (_, flag)| all | *flag);
    mount_remount(path, flags, "").or_explain_at("make read-only", path)
}

fn tmpfs(path: impl AsRef<Path>, data: &std::ffi::CStr) -> io::Result<()> {
    let path = path.as_ref();
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, data).or_explain_at("hide", path)
}

fn open_devices() -> Vec<OpenPath> {
    DEVICES.iter().filter_map(|name| open_path(&Path::new("/dev").join(name)).ok()).collect()
}

fn fill_devices(devices: &[OpenPath]) -> io::Result<()> {
    for device in devices {
        File::create(&device.path)?;
        mount_bind(descriptor_path(device), &device.path).or_explain_at("show", &device.path)?;
    }
    for (name, target) in [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        symlink(format!("/proc/self/{target}"), Path::new("/dev").join(name))?;
    }
    fs::create_dir("/dev/pts")?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=620").or_explain("make /dev/pts")?;
    symlink("pts/ptmx", "/dev/ptmx")?;
    fs::create_dir("/dev/shm")?;
    tmpfs("/dev/shm", c"mode=1777")?;
    fs::create_dir_all(NO_FOLDER)?;
    File::create(NO_FILE)?;
    for hidden in [NO_FILE, NO_FOLDER] {
        fs::set_permissions(hidden, std::os::unix::fs::PermissionsExt::from_mode(0o000))?;
    }
    Ok(())
}

/// Removes write access to protected paths, and all access to unreadable ones.
fn subtract(confinement: &Confinement) -> io::Result<()> {
    let mut pinned = BTreeSet::new();
    for path in confinement.protected.iter().filter(|path| is_plain(path)) {
        pin_parents(path, confinement, &mut pinned)?;
        mount_bind_recursive(path, path).or_explain_at("protect", path)?;
        remount(path, StatVfsMountFlags::RDONLY)?;
    }
    for path in confinement.unreadable.iter().filter(|path| is_plain(path)) {
        // The workspace may be in a folder that may not be read.
        if confinement.writable.iter().any(|folder| folder.starts_with(path)) {
            continue;
        }
        pin_parents(path, confinement, &mut pinned)?;
        mount_bind(if path.is_dir() { NO_FOLDER } else { NO_FILE }, path).or_explain_at("hide", path)?;
    }
    Ok(())
}

/// Whether the path can be mounted over: it exists and is not a symlink.
fn is_plain(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_symlink())
}

fn pin_parents(path: &Path, confinement: &Confinement, pinned: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for folder in confinement.folders_above(path) {
        if pinned.insert(folder.to_owned()) {
            mount_bind_recursive(folder, folder).or_explain_at("hold", folder)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_with_blanks_are_read_as_they_are() {
        assert_eq!(super::unescape("/a\\040b\\134c"), "/a b\\c");
    }
}
