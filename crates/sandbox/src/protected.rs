//! What runs, instructs or configures by itself and so may not be changed by a command: where it is in a
//! workspace.
//!
//! A repository's own folder stays writable, for `git commit` must work in it; what git runs or reads its
//! settings from does not. What is not there yet can't be covered, so it is set aside after the
//! command ([`crate::Confinement::absent`]), at the top of the workspace. Deeper down only what is there is
//! protected, as far as the first [`LOOKED_AT`] entries go.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::git;

/// What is protected, wherever in the workspace it is.
pub const PROTECTED: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/info/attributes",
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".svn/hooks",
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".vscode",
    ".idea",
    ".husky",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".devcontainer",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".cargo/config",
    ".cargo/config.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".gitmodules",
    ".ssh",
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".gitconfig",
    ".config/git",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".claude",
    ".cursor",
    ".cursorrules",
    ".github/copilot-instructions.md",
    "windlass.toml",
    ".mcp.json",
];

/// Folders that are not looked into: what is in them was made by tools, and is much.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "__pycache__"];

/// How many entries of a workspace are looked at before each command.
const LOOKED_AT: usize = 2_000;

/// What was found in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// What is there and protected.
    pub(crate) there: Vec<PathBuf>,
    /// What is not there, at the top.
    pub(crate) absent: Vec<PathBuf>,
    /// What else was asked about.
    pub(crate) chosen: Vec<PathBuf>,
}

/// Looks through `workspace`, the top first. `choose` is asked about every entry.
pub(crate) fn look(workspace: &Path, choose: &dyn Fn(&Path) -> bool) -> Found {
    let mut found = Found::default();
    let mut folders = VecDeque::from([workspace.to_owned()]);
    let mut seen = 0;
    'folders: while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > LOOKED_AT {
                break 'folders;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            found.there.extend(protected_at(&folder, &name));
            if choose(&path) {
                found.chosen.push(path);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !PASSED_OVER.contains(&&*name) {
                folders.push_back(path);
            }
        }
    }
    let (leading, missing) = git::leading(&workspace.join(".git"));
    found.there.extend(leading);
    // The order is that of the folders: what is above comes before what is in it.
    found.there.sort();
    found.there.dedup();
    found.absent = [absent(workspace), missing].concat();
    found
}

/// The protected paths that begin with this entry of a folder, where they are there.
fn protected_at(folder: &Path, name: &str) -> Vec<PathBuf> {
    let begins = |path: &&&str| path.split('/').next() == Some(name);
    let paths = PROTECTED.iter().filter(begins).map(|path| folder.join(path));
    // A file of this name leads to a repository elsewhere.
    let link = Some(folder.join(name)).filter(|path| name == ".git" && path.is_file());
    link.into_iter().chain(paths.filter(|path| path.symlink_metadata().is_ok())).collect()
}

/// What could be made at the top, in folders that are there.
fn absent(workspace: &Path) -> Vec<PathBuf> {
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let first = PROTECTED.iter().filter_map(|path| {
        let mut at = workspace.to_owned();
        for part in Path::new(path).components() {
            if !is_folder(&at) {
                return None;
            }
            at.push(part);
            if at.symlink_metadata().is_err() {
                return Some((at, path));
            }
        }
        None
    });
    // A folder that holds other things too may be made, but for what is protected in it.
    let shared = |path: &Path| [".github", ".config", ".cargo"].iter().any(|name| path == workspace.join(name));
    let mut paths: Vec<PathBuf> = first.map(|(at, path)| if shared(&at) { workspace.join(path) } else { at }).collect();
    paths.sort();
    paths.dedup();
    paths
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

    // proves X3
    #[test]
    fn what_is_there_is_found_at_any_depth_and_what_is_chosen_besides() {
        let (_folder, root) = workspace(&[
            ".git/config",
            ".git/hooks/x",
            ".git/HEAD",
            "a/b/AGENTS.md",
            "a/.git/config",
            "a/.env",
            "n",
            "s/.git",
        ]);
        let found = look(&root, &|path| path.ends_with(".env"));
        let want =
            [".git/config", ".git/hooks", "a/.git/config", "a/b/AGENTS.md", "s/.git"].map(|path| root.join(path));
        assert_eq!(found.there, want);
        assert_eq!(found.chosen, [root.join("a/.env")]);
    }

    // proves X3
    #[test]
    fn what_is_not_there_is_named_at_the_top_by_what_would_be_new() {
        let (_folder, root) = workspace(&[".git/config", ".cargo/x", "windlass.toml"]);
        let absent = look(&root, &|_| false).absent;
        for path in [".git/hooks", ".git/commondir", ".envrc", ".cargo/config.toml", ".github/workflows", ".hg"] {
            assert!(absent.contains(&root.join(path)), "{path} in {absent:?}");
        }
        for path in [".git/config", ".cargo", ".github", "windlass.toml", ".git"] {
            assert!(!absent.contains(&root.join(path)), "{path} in {absent:?}");
        }
    }
}
