//! The paths of hooks and settings that git obeys beyond the usual ones: those of submodules and linked worktrees. Also
//! the paths that a linked worktree, whose repository is elsewhere, must be able to write.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::follow_links::{lies_in, resolve_outside};
use crate::listing::{self, FolderEntry};
use crate::plain_file::read_plain_text;

/// Hooks, settings and redirections that git obeys in a repository folder.
pub const OBEYED_BY_GIT: [&str; 6] = ["config", "config.worktree", "hooks", "commondir", "gitdir", "info/attributes"];

/// The maximum size of a file that holds only a path, in bytes.
const LONGEST_PATH: u64 = 64 * 1024;

/// The names that [`is_repository`] asks about.
pub(crate) const REPOSITORY_MARKERS: [&str; 4] = ["HEAD", "commondir", "objects", "refs"];

/// Whether git takes a folder with these entries for a repository, whatever its name (git's own `is_git_directory`): a
/// `commondir` file points to the rest.
pub fn is_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// How many folders of a repository are scanned before a command.
pub(crate) const MOST_FOLDERS: usize = 200;

/// How many are scanned after it, since it may have created some.
pub(crate) const MOST_FOLDERS_AFTERWARDS: usize = 20_000;

/// The contents of a repository's folders for submodules and linked worktrees.
#[derive(Default)]
struct InnerRepositories {
    /// The repositories of submodules and worktrees.
    repositories: Vec<PathBuf>,
    /// Symlinks, which may lead anywhere.
    links: Vec<PathBuf>,
}

/// Returns the contents of the folders for submodules and linked worktrees of the repository at `git`; `None` if there
/// are more than `most`.
fn inner_repositories(git: &Path, most: usize) -> Option<InnerRepositories> {
    let mut folders = vec![git.join("modules"), git.join("worktrees")];
    let mut found = InnerRepositories::default();
    while let Some(folder) = folders.pop() {
        if folder.is_symlink() {
            found.links.push(folder);
            continue;
        }
        for FolderEntry { name, kind } in listing::list(&folder).into_iter().flatten() {
            if found.repositories.len() + found.links.len() + folders.len() > most {
                return None;
            }
            let path = folder.join(name);
            match kind {
                FileType::Symlink => found.links.push(path),
                FileType::Directory if path.join("HEAD").symlink_metadata().is_ok() => {
                    // A submodule or worktree may have submodules and linked worktrees of its own.
                    let inside = ["modules", "worktrees"].map(|name| path.join(name));
                    folders.extend(inside.into_iter().filter(|folder| folder.symlink_metadata().is_ok()));
                    found.repositories.push(path);
                }
                // The name of a submodule may contain slashes.
                FileType::Directory => folders.push(path),
                _ => {}
            }
        }
    }
    Some(found)
}

/// Returns the paths that git obeys in the submodules and worktrees of the repository at `git`: those that exist, and
/// those that don't. If there are more than `most`, returns the folders that contain them.
pub(crate) fn obeyed_below(git: &Path, most: usize) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let paths: Vec<PathBuf> = match inner_repositories(git, most) {
        Some(InnerRepositories { repositories, links }) => {
            let obeyed = repositories.iter().flat_map(|folder| OBEYED_BY_GIT.iter().map(|name| folder.join(name)));
            obeyed.chain(links).collect()
        }
        None => ["modules", "worktrees"].map(|name| git.join(name)).into(),
    };
    paths.into_iter().partition(|path| path.symlink_metadata().is_ok())
}

/// Returns the paths that git obeys in this repository folder.
pub(crate) fn obeyed_in(repository: &Path) -> impl Iterator<Item = PathBuf> {
    OBEYED_BY_GIT.iter().map(|name| repository.join(name))
}

/// The part of a repository elsewhere that belongs to a linked worktree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LinkedWorktree {
    /// Paths that a commit writes.
    pub(crate) writable: Vec<PathBuf>,
    /// Paths in them that must not change.
    pub(crate) protected: Vec<PathBuf>,
    /// The same, for paths that do not exist yet.
    pub(crate) absent: Vec<PathBuf>,
}

/// Returns the repository that `workspace` is linked to. The `.git` file of the workspace alone proves nothing, because
/// a command may have written it: the repository must link back, and all of it that becomes writable must be outside
/// `controlled`, where commands write.
pub(crate) fn linked_worktree(workspace: &Path, controlled: &[PathBuf]) -> Option<LinkedWorktree> {
    let link = workspace.join(".git");
    let text = text_of(&link)?;
    let own = resolve_outside(&gitdir(workspace, &text)?, controlled)?;
    let common = resolve_outside(&own.join(text_of(&own.join("commondir"))?.trim()), controlled)?;
    let back = own.join(text_of(&own.join("gitdir"))?.trim());
    if lies_in(&own, controlled) || lies_in(&common, controlled) {
        return None;
    }
    if back.canonicalize().ok()? != link || own.parent()? != common.join("worktrees") {
        return None;
    }
    if !is_repository(|name| common.join(name).symlink_metadata().is_ok()) {
        return None;
    }
    let (mut protected, mut absent): (Vec<_>, Vec<_>) =
        obeyed_in(&own).partition(|path| path.symlink_metadata().is_ok());
    let (there, missing) = obeyed_below_worktree(&own)?;
    protected.extend(there);
    absent.extend(missing);
    let shared = ["objects", "refs", "logs"].map(|name| common.join(name));
    let writable = shared.into_iter().chain([own]).filter(|path| is_own_folder(path)).collect();
    Some(LinkedWorktree { writable, protected, absent })
}

/// Returns the paths that git obeys in the repositories of a linked worktree's submodules: those that exist, and those
/// that don't. A symlink can't be closed: a folder that contains one is closed as a whole, and the result is `None` if
/// the folder itself is a symlink.
fn obeyed_below_worktree(own: &Path) -> Option<(Vec<PathBuf>, Vec<PathBuf>)> {
    let folders = ["modules", "worktrees"].map(|name| own.join(name));
    if folders.iter().any(|folder| folder.is_symlink()) {
        return None;
    }
    let (there, mut absent) = obeyed_below(own, MOST_FOLDERS);
    let (whole, missing): (Vec<_>, Vec<_>) = folders.into_iter().partition(|folder| folder.exists());
    absent.extend(missing);
    Some((if there.iter().any(|path| path.is_symlink()) { whole } else { there }, absent))
}

/// Returns the path in a `.git` file, relative to the file's folder.
fn gitdir(folder: &Path, text: &str) -> Option<PathBuf> {
    Some(folder.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Reads a short text file; `None` for a symlink.
fn text_of(path: &Path) -> Option<String> {
    path.symlink_metadata().ok().filter(Metadata::is_file)?;
    read_plain_text(path, LONGEST_PATH).ok()
}

/// Whether this is a folder, not a symlink to one, and belongs to the user of this process.
fn is_own_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && is_ours(&found))
}

#[cfg(target_os = "linux")]
fn is_ours(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == rustix::process::geteuid().as_raw()
}

#[cfg(not(target_os = "linux"))]
fn is_ours(_: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    // proves X3
    #[test]
    fn the_repositories_of_submodules_are_led_by_what_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                ("modules/a/b/HEAD", ""),
                ("modules/a/b/config", ""),
                ("modules/a/b/modules/c/HEAD", ""),
                ("modules/a/b/worktrees/d/HEAD", ""),
                ("modules/a/b/worktrees/d/commondir", ""),
            ],
        );
        let root = folder.path().canonicalize().unwrap();
        let (there, absent) = obeyed_below(&root, MOST_FOLDERS);
        assert_eq!(there, ["modules/a/b/config", "modules/a/b/worktrees/d/commondir"].map(|path| root.join(path)));
        assert!(absent.contains(&root.join("modules/a/b/modules/c/hooks")));
        std::os::unix::fs::symlink("/", root.join("modules/link")).unwrap();
        assert!(obeyed_below(&root, MOST_FOLDERS).0.contains(&root.join("modules/link")), "who knows where it leads");
        assert_eq!(obeyed_below(&root, 0).0, [root.join("modules")], "there are more");
    }

    // proves X3
    #[test]
    fn a_worktree_writes_to_a_repository_that_knows_of_it_and_to_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (link, back) =
            (format!("gitdir: {}/main/.git/worktrees/w\n", root.display()), format!("{}/w/.git\n", root.display()));
        write(
            &root,
            &[
                ("w/.git", &link),
                ("x/.git", &link),
                ("main/.git/worktrees/w/gitdir", &back),
                ("main/.git/worktrees/w/commondir", "../..\n"),
                ("main/.git/HEAD", ""),
                ("main/.git/objects/x", ""),
                ("main/.git/refs/x", ""),
                ("main/.git/config", ""),
            ],
        );
        std::os::unix::fs::symlink("/", root.join("main/.git/logs")).unwrap();
        let own = root.join("main/.git/worktrees/w");
        let linked_worktree = |name: &str| linked_worktree(&root.join(name), &[root.join(name)]);
        let linked_to = linked_worktree("w").unwrap();
        assert_eq!(
            linked_to.writable,
            [root.join("main/.git/objects"), root.join("main/.git/refs"), own.clone()],
            "no link is opened"
        );
        assert_eq!(linked_to.protected, [own.join("commondir"), own.join("gitdir")]);
        assert!(linked_to.absent.contains(&own.join("modules")));
        assert_eq!((linked_worktree("x"), linked_worktree("main")), (None, None));
        // The worktree's own folder holds the repository of its submodule.
        write(&own, &[("modules/lib/HEAD", ""), ("modules/lib/config", ""), ("modules/lib/objects/x", "")]);
        let linked_to = linked_worktree("w").unwrap();
        assert!(linked_to.protected.contains(&own.join("modules/lib/config")), "{linked_to:?}");
        assert!(linked_to.absent.contains(&own.join("modules/lib/hooks")), "{linked_to:?}");
        std::os::unix::fs::symlink("/", own.join("modules/link")).unwrap();
        assert!(linked_worktree("w").unwrap().protected.contains(&own.join("modules")), "who knows where it leads");
        std::fs::remove_dir_all(own.join("modules")).unwrap();
        std::os::unix::fs::symlink("/", own.join("modules")).unwrap();
        assert_eq!(linked_worktree("w"), None);
        std::fs::remove_file(own.join("modules")).unwrap();
        let controlled = [root.join("w"), root.join("main")];
        assert_eq!(super::linked_worktree(&root.join("w"), &controlled), None, "commands write there");
    }

    // proves X3: a file that a command can write makes no path writable
    #[test]
    fn a_repository_in_the_workspace_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let back = format!("{}/w/.git", root.display());
        for (link, back) in [("fake/worktrees/w", ".git"), ("fake/worktrees/w", &back), ("out/worktrees/w", &back)] {
            write(
                &root,
                &[
                    ("w/.git", &format!("gitdir: {link}\n")),
                    ("w/fake/worktrees/w/gitdir", back),
                    ("w/fake/worktrees/w/commondir", "../..\n"),
                    ("w/fake/HEAD", ""),
                    ("w/fake/refs/x", ""),
                    ("victim/worktrees/w/gitdir", back),
                    ("victim/worktrees/w/commondir", "../..\n"),
                ],
            );
            let _ = std::os::unix::fs::symlink(root.join("victim"), root.join("w/fake/objects"));
            let _ = std::os::unix::fs::symlink(root.join("victim"), root.join("w/out"));
            assert_eq!(linked_worktree(&root.join("w"), &[root.join("w")]), None, "{link} {back}");
        }
    }
}
