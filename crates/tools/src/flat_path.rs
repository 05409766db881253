//! Paths without `.` and `..`, by their text alone.

use std::path::{Component, Path, PathBuf};

/// `a/./b/../c` as `a/c`, by the letters alone.
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
