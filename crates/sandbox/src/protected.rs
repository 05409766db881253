//! What may not be changed by a command: where it is in a workspace.
//!
//! What is protected is said by whoever calls ([`Rules`]), but for repositories: one's own folder stays writable, for
//! `git commit` must work in it, and only what version control runs or reads its settings from does not. What is not
//! there yet can't be covered, so it is set aside after the command: what is spelled out ([`Confinement::absent`]), and
//! whatever a second look finds that the first did not. A look ends after so many entries; what is spelled out is looked
//! for by its path, whatever else is in the workspace.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::FileType;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::apart::follow;
use crate::confinement::{Confinement, KeptLink};
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

/// The folders those are in.
const REPOSITORIES: [&str; 3] = [".git", ".hg", ".svn"];

/// Folders that are not looked into: what is in them was made by tools, and is much.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "__pycache__"];

/// How many entries of a workspace are looked at before each command.
const LOOKED_AT: usize = 5_000;

/// How many after it: what it has made itself is looked through.
const LOOKED_AT_AFTERWARDS: usize = 100_000;

/// How far a workspace was looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Links that are closed, or lead to what is.
    pub(crate) links: Vec<KeptLink>,
    /// How far it was looked for.
    pub(crate) looked: Looked,
}

/// Looks through `workspace`, the top first, for what `rules` close.
pub(crate) fn look(workspace: &Path, rules: &Rules<'_>) -> Found {
    Look::new(workspace, rules, None).through(LOOKED_AT)
}

/// What `rules` close in `workspace` and was not there when a command was held to `before`, the outermost first. Where
/// the workspace was too large to be looked through, only what is found without that.
pub fn closed_since(workspace: &Path, rules: &Rules<'_>, before: &Confinement) -> Vec<PathBuf> {
    let most = match before.looked {
        Looked::Through | Looked::PastBuildFolders => LOOKED_AT_AFTERWARDS,
        Looked::AtTheBeginning => 0,
    };
    let found = Look::new(workspace, rules, Some(&before.links)).through(most);
    let links = before.links.iter().map(|link| &link.path);
    let known: HashSet<&PathBuf> = before.protected.iter().chain(&before.unreadable).chain(links).collect();
    let now = found.there.into_iter().chain(found.hidden).chain(found.links.into_iter().map(|link| link.path));
    let mut new: Vec<PathBuf> = now.filter(|path| !known.contains(path)).collect();
    new.sort();
    new.dedup();
    new
}

/// A folder that is looked into.
struct Folder {
    /// Where it is.
    real: PathBuf,
    /// What rules know it by, which is through a link if one leads to it.
    named: PathBuf,
    aim: Aim,
}

/// What a folder is looked into for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// All that may be in it, and below it.
    All,
    /// What rules close when it is reached by the name it has here. It is looked through under its own name besides.
    ByThisName,
    /// What may not be read: writing is closed to all of it.
    Hidden,
}

struct Look<'l> {
    workspace: &'l Path,
    rules: &'l Rules<'l>,
    /// The links there were, in a second look. Others are a command's, and lead wherever it likes.
    known: Option<&'l [KeptLink]>,
    found: Found,
    folders: VecDeque<Folder>,
    /// Which folders links were followed to, under which names: links go round.
    followed: HashSet<(PathBuf, OsString)>,
}

impl<'l> Look<'l> {
    fn new(workspace: &'l Path, rules: &'l Rules<'l>, known: Option<&'l [KeptLink]>) -> Self {
        let (real, named) = (workspace.to_owned(), workspace.to_owned());
        let folders = VecDeque::from([Folder { real, named, aim: Aim::All }]);
        Self { workspace, rules, known, found: Found::default(), folders, followed: HashSet::new() }
    }

    fn through(mut self, most: usize) -> Found {
        self.walk(most);
        self.look_at_spelled_out();
        self.look_where_patterns_end();
        self.look_at_repository();
        let mut found = self.found;
        found.there.retain(|path| path.starts_with(self.workspace));
        // The order is that of the folders: what is above comes before what is in it.
        for paths in [&mut found.there, &mut found.absent, &mut found.hidden] {
            paths.sort();
            paths.dedup();
        }
        found.links.sort();
        found.links.dedup();
        found
    }

    fn walk(&mut self, most: usize) {
        let mut left = most;
        while let Some(folder) = self.folders.pop_front() {
            let mut signs = Vec::new();
            for entry in std::fs::read_dir(&folder.real).into_iter().flatten().flatten() {
                if left == 0 {
                    self.found.looked = Looked::AtTheBeginning;
                    self.folders.clear();
                    return;
                }
                left -= 1;
                let name = entry.file_name();
                signs.extend(git::SIGNS.iter().find(|sign| name == **sign));
                if let Ok(kind) = entry.file_type() {
                    self.take(&folder, &name, kind);
                }
            }
            if git::is_repository(|name| signs.contains(&name)) {
                self.found.there.extend(git::leading_in(&folder.real));
            }
        }
    }

    fn take(&mut self, folder: &Folder, name: &OsStr, kind: FileType) {
        let (real, named) = (folder.real.join(name), folder.named.join(name));
        let closed = match ((self.rules.closed)(&named), folder.aim) {
            (Closed::ToWriting, Aim::Hidden) => Closed::No,
            (closed, Aim::All | Aim::ByThisName | Aim::Hidden) => closed,
        };
        if folder.aim != Aim::Hidden && REPOSITORIES.iter().any(|repository| name == *repository) {
            self.take_repository(&real);
        }
        if kind.is_symlink() {
            return self.take_link(&real, named, closed);
        }
        match closed {
            Closed::ToReading => self.found.hidden.push(real),
            Closed::ToWriting => {
                self.found.there.push(real.clone());
                if kind.is_dir() && self.rules.hides {
                    self.folders.push_back(Folder { real, named, aim: Aim::Hidden });
                }
            }
            Closed::No if !kind.is_dir() || name == ".git" => {}
            Closed::No if PASSED_OVER.iter().any(|passed| name == *passed) => {
                self.found.looked = self.found.looked.max(Looked::PastBuildFolders);
            }
            Closed::No if folder.aim == Aim::ByThisName && !(self.rules.leads)(&named) => {}
            Closed::No => self.folders.push_back(Folder { real, named, aim: folder.aim }),
        }
    }

    /// A link can't be covered. What it leads to can, and the link is put back where it was changed.
    fn take_link(&mut self, link: &Path, named: PathBuf, closed: Closed) {
        if closed == Closed::No && !(self.rules.leads)(&named) {
            return;
        }
        let Some(target) = self.keep_links(link) else { return };
        match closed {
            Closed::No => {
                let name = named.file_name().unwrap_or_default().to_owned();
                if target.is_dir() && self.followed.insert((target.clone(), name)) {
                    self.folders.push_back(Folder { real: target, named, aim: Aim::ByThisName });
                }
            }
            // The workspace itself stays open; and a second look knows what the first has covered.
            Closed::ToReading | Closed::ToWriting if self.workspace.starts_with(&target) || self.known.is_some() => {}
            Closed::ToReading => self.found.hidden.push(target),
            Closed::ToWriting => self.found.there.push(target),
        }
    }

    /// Keeps the links of the workspace that `path` leads through. Where it leads, if not through a link that is new.
    fn keep_links(&mut self, path: &Path) -> Option<PathBuf> {
        let mut links = Vec::new();
        let target = follow(self.workspace, path, |link| {
            let target = link.read_link().unwrap_or_default();
            links.push(KeptLink { path: link.to_owned(), target });
            true
        });
        links.retain(|link| link.path.starts_with(self.workspace));
        let is_known = self.known.is_none_or(|known| links.iter().all(|link| known.contains(link)));
        self.found.links.extend(links);
        target.filter(|_| is_known)
    }

    /// What leads version control in the repository whose folder this is, where it is there.
    fn take_repository(&mut self, path: &Path) {
        let Ok(found) = path.symlink_metadata() else { return };
        // A file of this name leads to a repository elsewhere.
        if found.is_file() && path.ends_with(".git") {
            self.found.there.push(path.to_owned());
            return;
        }
        let Some(real) = self.keep_links(path) else { return };
        let name = path.file_name().unwrap_or_default();
        let inside = OF_REPOSITORIES.iter().filter_map(|path| Path::new(path).strip_prefix(name).ok());
        let inside = inside.map(|inside| real.join(inside)).filter(|path| path.symlink_metadata().is_ok());
        self.found.there.extend(inside);
        let (leading, missing) = git::leading(&real);
        self.found.there.extend(leading);
        self.found.absent.extend(missing);
    }

    /// The workspace's own repository, however many files are beside it, and what would make it one.
    fn look_at_repository(&mut self) {
        let workspace = self.workspace;
        REPOSITORIES.iter().for_each(|name| self.take_repository(&workspace.join(name)));
        if git::is_repository(|name| workspace.join(name).symlink_metadata().is_ok()) {
            self.found.there.extend(git::leading_in(workspace));
        }
        let missing = OF_REPOSITORIES.iter().filter_map(|path| first_missing(workspace, Path::new(path)));
        self.found.absent.extend(missing);
    }

    /// What rules spell out, which is found wherever it is: where a look does not go, and where nothing is yet.
    fn look_at_spelled_out(&mut self) {
        // Most are in the same few folders.
        let mut folders: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
        for path in self.rules.spelled_out.iter().map(|path| self.workspace.join(path)) {
            let closed = (self.rules.closed)(&path);
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            if closed == Closed::No {
                continue;
            }
            let folder = match folders.get(above) {
                Some(folder) => folder,
                None => folders.entry(above.to_owned()).or_insert(self.existing(above)),
            };
            let Some(folder) = folder else { continue };
            let real = folder.join(name);
            match (real.symlink_metadata(), closed) {
                (Err(_), _) => self.found.absent.extend(real.starts_with(self.workspace).then_some(real)),
                (Ok(found), _) if found.is_symlink() => self.take_link(&real, path, closed),
                (Ok(_), Closed::ToReading) => self.found.hidden.push(real),
                (Ok(_), Closed::ToWriting) => self.found.there.push(real),
                (Ok(_), Closed::No) => {}
            }
        }
    }

    /// `path` without links as far as it is there. Those on the way are kept; none if one of them is new.
    fn existing(&mut self, path: &Path) -> Option<PathBuf> {
        let there = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
        Some(self.keep_links(there)?.join(path.strip_prefix(there).ok()?))
    }

    /// The folders in which rules close names by a pattern. One that has too much in it is closed as a whole.
    fn look_where_patterns_end(&mut self) {
        for named in self.rules.ends.iter().map(|folder| self.workspace.join(folder)) {
            if named.symlink_metadata().is_err() {
                continue;
            }
            let Some(real) = self.keep_links(&named) else { continue };
            let entries: Vec<_> = std::fs::read_dir(&real).into_iter().flatten().flatten().take(LOOKED_AT).collect();
            if entries.len() == LOOKED_AT {
                self.found.there.push(real);
                continue;
            }
            let folder = Folder { real, named, aim: Aim::ByThisName };
            for entry in entries {
                if let Ok(kind) = entry.file_type() {
                    self.take(&folder, &entry.file_name(), kind);
                }
            }
        }
    }
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
        look(root, &Rules { closed: &closed, spelled_out: &spelled_out, ..Rules::NONE })
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
        let mut want = under(&root, &[&paths[..], &[".vscode", ".env", "deep/.env", "file/.env"]].concat());
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
