//! Resolves paths that no command can influence: a symlink that a command can write must not widen a later sandbox.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// The number of symlinks that the kernel follows.
const MOST_LINKS: usize = 40;

/// Returns `path` without symlinks, or `None` if it leads through a symlink in `controlled`, where a command may have
/// created it.
pub(crate) fn resolve_outside(path: &Path, controlled: &[PathBuf]) -> Option<PathBuf> {
    match follow(Path::new("/"), path, |link| !lies_in(link, controlled))? {
        LinkTarget::Existing(path) => Some(path),
        LinkTarget::Missing(_) => None,
    }
}

/// The path that a symlink resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// A path that exists.
    Existing(PathBuf),
    /// A path that does not exist.
    Missing(PathBuf),
}

/// Resolves `path`, relative to `folder`, which has no symlinks. Follows each symlink only if `may_follow` returns
/// true.
pub(crate) fn follow(folder: &Path, path: &Path, mut may_follow: impl FnMut(&Path) -> bool) -> Option<LinkTarget> {
    let mut rest: VecDeque<OsString> = parts(path.strip_prefix(folder).unwrap_or(path)).collect();
    let (mut at, mut links, mut is_there) = (folder.to_owned(), 0, true);
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(part);
        let found = next.symlink_metadata();
        if found.as_ref().is_ok_and(|found| found.is_symlink()) {
            links += 1;
            let target = next.read_link().ok().filter(|_| links <= MOST_LINKS && may_follow(&next))?;
            rest = parts(&target).chain(rest).collect();
        } else {
            is_there &= found.is_ok();
            at = next;
        }
    }
    Some(if is_there { LinkTarget::Existing(at) } else { LinkTarget::Missing(at) })
}

/// Whether `path` is one of `folders` or in one.
pub(crate) fn lies_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Returns the components of a path. The root is one of them: it restarts at `/`.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>().into_iter()
}

/// Whether there is no symlink between `folder` and `path`, which is in it.
pub(crate) fn is_without_links(folder: &Path, path: &Path) -> bool {
    let above = path.ancestors().take_while(|above| *above != folder);
    path.starts_with(folder) && above.filter_map(|at| at.symlink_metadata().ok()).all(|found| !found.is_symlink())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    // proves X3
    #[test]
    fn a_link_in_a_folder_that_commands_write_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["project", "home/cache", "victim"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        symlink(root.join("victim"), root.join("project/link")).unwrap();
        symlink("../project/link", root.join("home/through")).unwrap();
        symlink("./cache/../cache", root.join("home/plain")).unwrap();
        symlink("round", root.join("home/round")).unwrap();
        let controlled = [root.join("project")];
        let resolved = |path: &str| resolve_outside(&root.join(path), &controlled);
        assert_eq!(resolved("home/plain"), Some(root.join("home/cache")));
        assert_eq!(resolved("project/../project"), Some(root.join("project")));
        for path in ["project/link", "home/through", "home/round", "home/none"] {
            assert_eq!(resolved(path), None, "{path}");
        }
        let home = root.join("home");
        assert!(is_without_links(&home, &home.join("cache/new")) && !is_without_links(&home, &home.join("plain/new")));
        assert!(!is_without_links(&home, &root.join("victim")));
    }
}
