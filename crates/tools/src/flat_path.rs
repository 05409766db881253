//! Removes `.` and `..` from paths lexically, without reading the file system.

use std::path::{Component, Path, PathBuf};

/// Returns `a/./b/../c` as `a/c`, without reading the file system.
pub(crate) fn flatten(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(flat.components().next_back(), Some(Component::Normal(_))) => {
                flat.pop();
            }
            Component::ParentDir | Component::Normal(_) | Component::RootDir | Component::Prefix(_) => flat.push(part),
        }
    }
    if flat.as_os_str().is_empty() { PathBuf::from(".") } else { flat }
}
