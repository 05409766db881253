//! Where git keeps what it runs and is configured by, besides the usual: the repositories of submodules and linked
//! worktrees; and what a linked worktree, whose repository is elsewhere, must be able to write.

use std::path::{Path, PathBuf};

/// What git runs, or is configured or led elsewhere by, in a folder of its own.
const LEADING: &[&str] = &["config", "config.worktree", "hooks", "commondir", "gitdir"];

/// What every repository has: a folder with all of these is one, whatever its name.
pub(crate) const SIGNS: [&str; 3] = ["HEAD", "objects", "refs"];

/// How many folders of a repository are looked into.
const LOOKED_INTO: usize = 200;

/// The folders of submodules and linked worktrees in the repository at `git`.
fn inner(git: &Path) -> Vec<PathBuf> {
    let mut folders = vec![git.join("modules"), git.join("worktrees")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
        {
            if found.len() + folders.len() > LOOKED_INTO {
                return found;
            }
            // A submodule's name may have slashes in it, and it may have submodules.
            let is_repository = path.join("HEAD").exists();
            folders.extend(if is_repository { vec![path.join("modules")] } else { vec![path.clone()] });
            found.extend(is_repository.then_some(path));
        }
    }
    found
}

/// What leads git in the submodules and worktrees of the repository at `git`: what is there, and what is not.
pub(crate) fn leading(git: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let paths = inner(git).into_iter().flat_map(|folder| LEADING.iter().map(move |name| folder.join(name)));
    paths.partition(|path| path.symlink_metadata().is_ok())
}

/// What leads git in the repository whose own folder this is, where it is there.
pub(crate) fn leading_in(repository: &Path) -> impl Iterator<Item = PathBuf> {
    LEADING.iter().map(|name| repository.join(name)).filter(|path| path.symlink_metadata().is_ok())
}

/// A linked worktree's part of a repository elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Linked {
    /// What a commit writes.
    pub(crate) writable: Vec<PathBuf>,
    /// What it must not.
    pub(crate) protected: Vec<PathBuf>,
    /// The same, where it is not there yet.
    pub(crate) absent: Vec<PathBuf>,
}

/// What `workspace` is linked to. The repository must know of the link: a file alone leads nowhere.
pub(crate) fn linked(workspace: &Path) -> Option<Linked> {
    let link = workspace.join(".git");
    let text =
        link.symlink_metadata().ok().filter(std::fs::Metadata::is_file).and(std::fs::read_to_string(&link).ok())?;
    let own = workspace.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = std::fs::read_to_string(own.join("gitdir")).ok()?;
    let common = own.join(std::fs::read_to_string(own.join("commondir")).ok()?.trim()).canonicalize().ok()?;
    let known = Path::new(back.trim()).canonicalize().ok()? == link.canonicalize().ok()?;
    if !known || own.parent()? != common.join("worktrees") {
        return None;
    }
    let leading = LEADING.iter().map(|name| own.join(name));
    let (protected, absent) = leading.partition(|path| path.symlink_metadata().is_ok());
    let shared = ["objects", "refs", "logs"].map(|name| common.join(name));
    let writable = shared.into_iter().chain([own]).filter(|path| path.is_dir()).collect();
    Some(Linked { writable, protected, absent })
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
            &[("modules/a/b/HEAD", ""), ("modules/a/b/config", ""), ("modules/a/b/modules/c/HEAD", "")],
        );
        let (there, absent) = leading(folder.path());
        assert_eq!(there, [folder.path().join("modules/a/b/config")]);
        assert!(absent.contains(&folder.path().join("modules/a/b/modules/c/hooks")));
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
                ("main/.git/objects/x", ""),
                ("main/.git/config", ""),
            ],
        );
        let own = root.join("main/.git/worktrees/w");
        let linked_to = linked(&root.join("w")).unwrap();
        assert_eq!(linked_to.writable, [root.join("main/.git/objects"), own.clone()]);
        assert_eq!(linked_to.protected, [own.join("commondir"), own.join("gitdir")]);
        assert_eq!((linked(&root.join("x")), linked(&root.join("main"))), (None, None));
    }
}
