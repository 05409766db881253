//! What may not be changed by a command: where it is in a workspace.
//!
//! What is protected is said by whoever calls ([`Rules`]), but for repositories: one's own folder stays writable, for
//! `git commit` must work in it, and only what version control runs or reads its settings from does not. What is not
//! there yet can't be covered, so it is set aside after the command ([`crate::Confinement::absent`]), at the top of
//! the workspace and where a rule spells its path out. Deeper down only what is there is protected, as far as the
//! first [`LOOKED_AT`] entries go.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use crate::git;
use crate::surroundings::{Closed, Rules};

/// What version control runs, or is configured or led elsewhere by, wherever in the workspace it is.
const OF_REPOSITORIES: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/info/attributes",
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".svn/hooks",
];

/// Folders that are not looked into: what is in them was made by tools, and is much.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "__pycache__"];

/// How many entries of a workspace are looked at before each command.
const LOOKED_AT: usize = 5_000;

/// How far a workspace was looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Looked {
    /// All of it.
    #[default]
    Through,
    /// All of it but folders that build tools fill.
    PastBuildFolders,
    /// Its first entries, of which there are too many.
    AtTheBeginning,
}

/// What was found in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// What is there and may not be changed.
    pub(crate) there: Vec<PathBuf>,
    /// What is not there, and may not be made.
    pub(crate) absent: Vec<PathBuf>,
    /// What is there and may not be read.
    pub(crate) hidden: Vec<PathBuf>,
    /// How far it was looked for.
    pub(crate) looked: Looked,
}

/// Looks through `workspace`, the top first, for what `rules` close.
pub(crate) fn look(workspace: &Path, rules: &Rules<'_>) -> Found {
    let mut found = Found::default();
    let mut folders = VecDeque::from([workspace.to_owned()]);
    let mut seen = 0;
    'folders: while let Some(folder) = folders.pop_front() {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > LOOKED_AT {
                found.looked = Looked::AtTheBeginning;
                break 'folders;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type().ok();
            found.there.extend(of_repository(&path, &name, kind));
            names.extend(git::SIGNS.iter().find(|sign| name == **sign));
            match (rules.closed)(&path) {
                Closed::ToReading => found.hidden.push(path),
                Closed::ToWriting => found.there.push(path),
                Closed::No if !kind.is_some_and(|kind| kind.is_dir()) => {}
                Closed::No if !PASSED_OVER.iter().any(|passed| name == *passed) => folders.push_back(path),
                Closed::No if name == ".git" => {}
                Closed::No => found.looked = found.looked.max(Looked::PastBuildFolders),
            }
        }
        if git::is_repository(|name| names.contains(&name)) {
            found.there.extend(git::leading_in(&folder));
        }
    }
    look_at_spelled_out(workspace, rules, &mut found);
    let (leading, missing) = git::leading(&workspace.join(".git"));
    found.there.extend(leading);
    found.absent.extend(missing);
    found.absent.extend(OF_REPOSITORIES.iter().filter_map(|path| first_missing(workspace, Path::new(path))));
    // The order is that of the folders: what is above comes before what is in it.
    for paths in [&mut found.there, &mut found.absent, &mut found.hidden] {
        paths.sort();
        paths.dedup();
    }
    found
}

/// What leads version control in the repository whose folder this entry is, where it is there.
fn of_repository(path: &Path, name: &OsStr, kind: Option<FileType>) -> Vec<PathBuf> {
    let Some(name) = name.to_str().filter(|name| [".git", ".hg", ".svn"].contains(name)) else { return Vec::new() };
    // A file of this name leads to a repository elsewhere.
    if name == ".git" && kind.is_some_and(|kind| kind.is_file()) {
        return vec![path.to_owned()];
    }
    let inside = OF_REPOSITORIES.iter().filter_map(|path| Path::new(path).strip_prefix(name).ok());
    inside.map(|inside| path.join(inside)).filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// What rules spell out, which is found wherever it is: where a look does not go, and where nothing is yet.
fn look_at_spelled_out(workspace: &Path, rules: &Rules<'_>, found: &mut Found) {
    for path in rules.spelled_out.iter().map(|path| workspace.join(path)) {
        let closed = (rules.closed)(&path);
        if path.symlink_metadata().is_err() {
            let is_ours = closed != Closed::No && path.starts_with(workspace) && !is_past_a_link(workspace, &path);
            found.absent.extend(is_ours.then_some(path));
            continue;
        }
        let (Some(Ok(folder)), Some(name)) = (path.parent().map(Path::canonicalize), path.file_name()) else {
            continue;
        };
        match closed {
            Closed::ToReading => found.hidden.push(folder.join(name)),
            Closed::ToWriting => found.there.push(folder.join(name)),
            Closed::No => {}
        }
    }
}

/// Whether a folder on the way is a link, or is no folder.
fn is_past_a_link(workspace: &Path, path: &Path) -> bool {
    let above = path.ancestors().skip(1).take_while(|above| *above != workspace);
    above.filter_map(|above| above.symlink_metadata().ok()).any(|found| !found.is_dir())
}

/// The first part of `path` that is not there, in folders that are.
fn first_missing(workspace: &Path, path: &Path) -> Option<PathBuf> {
    let mut at = workspace.to_owned();
    for part in path.components() {
        at.push(part);
        match at.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return None,
            Err(_) => return Some(at),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        (folder, root)
    }

    /// `.env` files may not be read, `AGENTS.md` and `.vscode` not be written.
    fn closed(path: &Path) -> Closed {
        match path.file_name().and_then(OsStr::to_str) {
            Some(".env") => Closed::ToReading,
            Some("AGENTS.md" | ".vscode") => Closed::ToWriting,
            Some(_) | None => Closed::No,
        }
    }

    fn looked(root: &Path, spelled_out: &[&str]) -> Found {
        let spelled_out: Vec<PathBuf> = spelled_out.iter().map(PathBuf::from).collect();
        look(root, &Rules { closed: &closed, spelled_out: &spelled_out })
    }

    fn under(root: &Path, paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(|path| root.join(path)).collect()
    }

    // proves X3
    #[test]
    fn what_is_there_is_found_at_any_depth_and_what_leads_repositories_besides() {
        let files =
            [".git/config", ".git/hooks/x", ".git/HEAD", "a/b/AGENTS.md", "a/.git/config", "a/.env", "n", "s/.git"];
        let (_folder, root) = workspace(&files);
        let found = looked(&root, &[]);
        let there = [".git/config", ".git/hooks", "a/.git/config", "a/b/AGENTS.md", "s/.git"];
        assert_eq!(found.there, under(&root, &there));
        assert_eq!((found.hidden, found.looked), (under(&root, &["a/.env"]), Looked::Through));
    }

    // proves X3
    #[test]
    fn what_is_not_there_is_named_at_the_top_by_what_would_be_new() {
        let (_folder, root) = workspace(&[".git/config", "AGENTS.md", "file"]);
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let spelled_out = [".vscode", "AGENTS.md", ".env", "deep/.env", "open", "link/.env", "file/.env", "/x/.env"];
        let absent = looked(&root, &spelled_out).absent;
        let paths = [".git/commondir", ".git/config.worktree", ".git/hooks", ".git/info", ".hg", ".svn"];
        let mut want = under(&root, &[&paths[..], &[".vscode", ".env", "deep/.env"]].concat());
        want.sort();
        assert_eq!(absent, want);
    }

    // proves X3
    #[test]
    fn what_a_rule_spells_out_is_found_where_a_look_does_not_go() {
        let (_folder, root) = workspace(&["target/.env", "node_modules/a/.env", "x/.env"]);
        let found = looked(&root, &["target/.env", "x/.env"]);
        assert_eq!(found.hidden, under(&root, &["target/.env", "x/.env"]));
        assert_eq!(found.looked, Looked::PastBuildFolders);
        let (_folder, root) = workspace(&["a/b/c/.env"]);
        (0..=LOOKED_AT).for_each(|number| std::fs::write(root.join(number.to_string()), "").unwrap());
        let found = looked(&root, &["a/b/c/.env"]);
        assert_eq!((found.hidden, found.looked), (under(&root, &["a/b/c/.env"]), Looked::AtTheBeginning));
    }

    // proves X3
    #[test]
    fn what_leads_a_bare_repository_is_found() {
        let (_folder, root) = workspace(&["b/HEAD", "b/config", "b/objects/x", "b/refs/x", "b/hooks/x", "c/HEAD"]);
        assert_eq!(looked(&root, &[]).there, under(&root, &["b/config", "b/hooks"]));
    }
}
