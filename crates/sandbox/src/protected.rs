//! Finds the paths in a workspace that a command may not change.
//!
//! The caller's rules decide what is protected ([`PathRules`]), except in repositories: the repository folder stays
//! writable, because `git commit` must work, and only the hooks and settings that version control obeys are protected.
//! A path that does not exist yet can't be mounted over, so it is set aside after the command: this applies to
//! everything that the second scan finds and the first did not, and to a new repository ([`Confinement::absent`]). A
//! scan ends after a number of entries; literal paths are checked directly, whatever else is in the workspace.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::confinement::{Confinement, ProtectedLink};
use crate::follow_links::{LinkTarget, follow};
use crate::git;
use crate::git_config::GitSettings;
use crate::listing::{self, FolderEntry};
use crate::surroundings::{PathAccess, PathRules};

/// The repository folders, and the hooks, settings and redirections that version control obeys in each.
const REPOSITORIES: [(&str, &[&str]); 3] =
    [(".git", &git::OBEYED_BY_GIT), (".hg", &["hgrc", "hgrc-not-shared"]), (".svn", &["hooks"])];

/// Folders that are not scanned: tools generate their contents, which are large.
const SKIPPED_FOLDERS: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__"];

/// How many entries of a workspace are scanned before each command.
const MOST_ENTRIES: usize = 5_000;

/// How many are scanned after it, including the files that it created itself.
const MOST_ENTRIES_AFTERWARDS: usize = 100_000;

/// The limits of the scan of closed folders for symlinks: entries in all, entries of one folder, and depth.
const MOST_ENTRIES_IN_CLOSED: usize = 5_000;
const MOST_ENTRIES_IN_ONE_CLOSED: usize = 1_000;
const DEEPEST_CLOSED_LEVEL: usize = 4;

/// How much of a workspace was scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScanExtent {
    /// All of it.
    #[default]
    Complete,
    /// All of it except the folders that build tools fill.
    WithoutBuildFolders,
    /// Only the first entries, because there are too many.
    FirstEntries,
}

/// The result of a scan of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanResult {
    /// Existing paths that may not be changed.
    pub(crate) there: Vec<PathBuf>,
    /// Paths of repositories that do not exist, and may not be created.
    pub(crate) absent: Vec<PathBuf>,
    /// Existing paths that may not be read.
    pub(crate) hidden: Vec<PathBuf>,
    /// Symlinks that are closed, or lead to closed paths.
    pub(crate) links: Vec<ProtectedLink>,
    /// How much of the workspace was scanned.
    pub(crate) scan_extent: ScanExtent,
}

/// Scans `workspace`, the top first, for paths that `rules` close, and for paths that git obeys because of the settings
/// in the home folder `home`.
pub(crate) fn scan_workspace(workspace: &Path, home: Option<&Path>, rules: &PathRules<'_>) -> ScanResult {
    WorkspaceScan { home, ..WorkspaceScan::new(workspace, rules, None) }.run(MOST_ENTRIES)
}

/// Returns the literal paths of `rules` in `workspace` that do not exist, for isolation that can close them beforehand.
pub(crate) fn missing_literal_paths(workspace: &Path, rules: &PathRules<'_>) -> Vec<PathBuf> {
    let mut look = WorkspaceScan::new(workspace, rules, None);
    let literal_paths = rules.literal_paths.iter().map(|path| workspace.join(path));
    let missing =
        literal_paths.filter(|path| (rules.access_to)(path) != PathAccess::Open && path.symlink_metadata().is_err());
    let real = missing.filter_map(|path| Some(look.resolve_existing(path.parent()?)?.join(path.file_name()?)));
    real.filter(|path| path.starts_with(workspace)).collect()
}

/// Returns the paths that `rules` close in `workspace` and that did not exist when a command was confined to `before`,
/// the outermost first. If the workspace was too large to scan, returns only those found without a scan.
pub fn new_closed_paths(workspace: &Path, rules: &PathRules<'_>, before: &Confinement) -> Vec<PathBuf> {
    let most = match before.scan_extent {
        ScanExtent::Complete | ScanExtent::WithoutBuildFolders => MOST_ENTRIES_AFTERWARDS,
        ScanExtent::FirstEntries => 0,
    };
    let found = WorkspaceScan::new(workspace, rules, Some(before)).run(most);
    let known: HashSet<&Path> =
        closed_before(before).chain(before.links.iter().map(|link| &link.path)).map(PathBuf::as_path).collect();
    let now = found.there.into_iter().chain(found.hidden).chain(found.links.into_iter().map(|link| link.path));
    // Everything in a folder that is closed as a whole existed before.
    let is_known = |path: &PathBuf| path.ancestors().any(|above| known.contains(above));
    let is_new = |path: &PathBuf| path.starts_with(workspace) && !is_known(path);
    let mut new: Vec<PathBuf> = now.filter(is_new).collect();
    new.sort();
    new.dedup();
    new
}

/// Returns the paths that were closed, without those that a concurrent command created.
fn closed_before(before: &Confinement) -> impl Iterator<Item = &PathBuf> {
    let closed = before.protected.iter().chain(&before.unreadable);
    closed.filter(|path| !before.made_meanwhile.contains(path))
}

/// A folder to scan.
struct ScannedFolder {
    /// Its path without symlinks.
    real: PathBuf,
    /// The path that rules match, which contains a symlink if one leads to it.
    named: PathBuf,
    purpose: ScanPurpose,
}

/// What a folder is scanned for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanPurpose {
    /// Everything in it and below it.
    All,
    /// Paths that rules close under this name. The folder is scanned under its own name besides.
    ByThisName,
    /// Unreadable paths only: all of it is closed to writing already.
    Hidden,
}

struct WorkspaceScan<'l> {
    workspace: &'l Path,
    /// The home folder with the settings that git reads besides those of a repository.
    home: Option<&'l Path>,
    rules: &'l PathRules<'l>,
    /// The first scan's result, in a second scan. Other symlinks may be a command's, and lead anywhere.
    before: Option<&'l Confinement>,
    found: ScanResult,
    folders: VecDeque<ScannedFolder>,
    /// The names at the top of the workspace, in lower case, if all of them were listed.
    top: Option<HashSet<String>>,
    /// The folders that symlinks were followed to, with their names, because symlinks may form a cycle.
    followed: HashSet<(PathBuf, OsString)>,
}

impl<'l> WorkspaceScan<'l> {
    fn new(workspace: &'l Path, rules: &'l PathRules<'l>, before: Option<&'l Confinement>) -> Self {
        let (real, named) = (workspace.to_owned(), workspace.to_owned());
        let folders = VecDeque::from([ScannedFolder { real, named, purpose: ScanPurpose::All }]);
        let (found, followed) = (ScanResult::default(), HashSet::new());
        Self { workspace, home: None, rules, before, found, folders, top: None, followed }
    }

    fn run(mut self, most: usize) -> ScanResult {
        self.walk(most);
        self.scan_literal_paths();
        self.scan_pattern_folders();
        self.scan_own_repository();
        // The second scan skips folders that the first has closed: no symlink in them can have changed.
        if self.before.is_none() {
            self.scan_closed_folders();
        }
        let mut found = self.found;
        for paths in [&mut found.there, &mut found.absent] {
            paths.retain(|path| path.starts_with(self.workspace));
        }
        // Sorted: a folder comes before its contents.
        for paths in [&mut found.there, &mut found.absent, &mut found.hidden] {
            paths.sort();
            paths.dedup();
        }
        found.links.sort();
        found.links.dedup();
        found
    }

    fn walk(&mut self, most: usize) {
        let (mut left, mut top) = (most, Some(HashSet::new()));
        while let Some(folder) = self.folders.pop_front() {
            let mut markers = Vec::new();
            let entries = self.list(&folder.real);
            // The contents of a folder that can't be listed are unknown.
            top = top.filter(|_| entries.is_some());
            for FolderEntry { name, kind } in entries.into_iter().flatten() {
                if left == 0 {
                    self.found.scan_extent = ScanExtent::FirstEntries;
                    self.folders.clear();
                    return;
                }
                left -= 1;
                if let Some(top) = &mut top {
                    top.insert(name.to_string_lossy().to_lowercase());
                }
                markers.extend(git::REPOSITORY_MARKERS.iter().find(|marker| name == **marker));
                self.visit(&folder, &name, kind);
            }
            if git::is_repository(|name| markers.contains(&name)) {
                git::obeyed_in(&folder.real).for_each(|path| self.close(&path));
                self.visit_settings(&folder.real);
            }
            // The first folder is the workspace itself.
            self.top = self.top.take().or(top.take());
        }
    }

    /// Lists a folder. One that can't be listed is closed as a whole, because the command, as its owner, could make it
    /// accessible. If the command itself has removed the permissions, they are restored.
    fn list(&mut self, folder: &Path) -> Option<impl Iterator<Item = FolderEntry> + use<>> {
        match (listing::list(folder), self.before) {
            (Ok(entries), _) => return Some(entries),
            (Err(error), _) if error.kind() != io::ErrorKind::PermissionDenied => {}
            (Err(_), None) if self.rules.hides_by_pattern && folder != self.workspace => {
                self.found.hidden.push(folder.to_owned());
            }
            (Err(_), None) => self.found.there.push(folder.to_owned()),
            (Err(_), Some(before)) => {
                if !closed_before(before).any(|closed| closed == folder) {
                    return listing::make_listable(folder).and_then(|()| listing::list(folder)).ok();
                }
            }
        }
        None
    }

    /// Closes `path` to writing, and its target if it is a symlink.
    fn close(&mut self, path: &Path) {
        match path.symlink_metadata() {
            Err(_) => {}
            Ok(found) if found.is_symlink() => self.visit_link(path, path.to_owned(), PathAccess::ReadOnly),
            Ok(_) => self.found.there.push(path.to_owned()),
        }
    }

    fn visit(&mut self, folder: &ScannedFolder, name: &OsStr, kind: FileType) {
        let (real, named) = (folder.real.join(name), folder.named.join(name));
        let closed = match ((self.rules.access_to)(&named), folder.purpose) {
            (PathAccess::ReadOnly, ScanPurpose::Hidden) => PathAccess::Open,
            (closed, ScanPurpose::All | ScanPurpose::ByThisName | ScanPurpose::Hidden) => closed,
        };
        if folder.purpose != ScanPurpose::Hidden
            && let Some((_, obeyed)) = REPOSITORIES.iter().find(|(repository, _)| name == *repository)
        {
            self.visit_repository(&real, obeyed);
        }
        if kind == FileType::Symlink {
            return self.visit_link(&real, named, closed);
        }
        match closed {
            PathAccess::Hidden => self.found.hidden.push(real),
            PathAccess::ReadOnly => {
                self.found.there.push(real.clone());
                if kind == FileType::Directory && self.rules.hides_by_pattern {
                    self.folders.push_back(ScannedFolder { real, named, purpose: ScanPurpose::Hidden });
                }
            }
            PathAccess::Open if kind != FileType::Directory || name == ".git" => {}
            PathAccess::Open if SKIPPED_FOLDERS.iter().any(|passed| name == *passed) => {
                self.found.scan_extent = self.found.scan_extent.max(ScanExtent::WithoutBuildFolders);
            }
            PathAccess::Open
                if folder.purpose == ScanPurpose::ByThisName && !(self.rules.may_lead_to_closed)(&named) => {}
            PathAccess::Open => self.folders.push_back(ScannedFolder { real, named, purpose: folder.purpose }),
        }
    }

    /// A symlink can't be mounted over. Its target can, and the symlink is restored if it was changed.
    fn visit_link(&mut self, link: &Path, named: PathBuf, closed: PathAccess) {
        if closed == PathAccess::Open && !(self.rules.may_lead_to_closed)(&named) {
            return;
        }
        let Some(led) = self.keep_links(link) else { return };
        match (closed, led) {
            (PathAccess::Open, LinkTarget::Existing(target)) => {
                let name = named.file_name().unwrap_or_default().to_owned();
                if target.is_dir() && self.followed.insert((target.clone(), name)) {
                    self.folders.push_back(ScannedFolder { real: target, named, purpose: ScanPurpose::ByThisName });
                }
            }
            (PathAccess::Open, LinkTarget::Missing(_)) => {}
            // The workspace itself stays open, and the first scan has closed the target already.
            (PathAccess::Hidden | PathAccess::ReadOnly, LinkTarget::Existing(target))
                if self.workspace.starts_with(&target) || self.before.is_some() => {}
            (PathAccess::Hidden, LinkTarget::Existing(target)) => self.found.hidden.push(target),
            (PathAccess::ReadOnly, LinkTarget::Existing(target)) => self.found.there.push(target),
            (PathAccess::Hidden | PathAccess::ReadOnly, LinkTarget::Missing(target)) => self.found.absent.push(target),
        }
    }

    /// Records the symlinks of the workspace that `path` leads through. Returns its target, or `None` if it leads
    /// through a new symlink.
    fn keep_links(&mut self, path: &Path) -> Option<LinkTarget> {
        let mut links = Vec::new();
        let led = follow(self.workspace, path, |link| {
            let target = link.read_link().unwrap_or_default();
            links.push(ProtectedLink { path: link.to_owned(), target });
            true
        });
        links.retain(|link| link.path.starts_with(self.workspace));
        let is_known = self.before.is_none_or(|before| links.iter().all(|link| before.links.contains(link)));
        self.found.links.extend(links);
        led.filter(|_| is_known)
    }

    /// Closes the existing hooks and settings that version control obeys in this repository folder.
    fn visit_repository(&mut self, path: &Path, obeyed: &[&str]) {
        let Ok(found) = path.symlink_metadata() else { return };
        // A file of this name points to a repository elsewhere.
        if found.is_file() && path.ends_with(".git") {
            self.found.there.push(path.to_owned());
            return self.visit_settings(path);
        }
        let real = match self.keep_links(path) {
            Some(LinkTarget::Existing(real)) => real,
            Some(LinkTarget::Missing(target)) => return self.found.absent.push(target),
            None => return,
        };
        obeyed.iter().for_each(|name| self.close(&real.join(name)));
        if path.ends_with(".git") {
            self.visit_settings(path);
        }
        let most = if self.before.is_some() { git::MOST_FOLDERS_AFTERWARDS } else { git::MOST_FOLDERS };
        let (there, missing) = git::obeyed_below(&real, most);
        there.iter().for_each(|path| self.close(path));
        self.found.absent.extend(missing);
    }

    /// Closes the paths elsewhere that the settings of the repository at `git` make git obey.
    fn visit_settings(&mut self, git: &Path) {
        let GitSettings { hooks, included } = GitSettings::of(git, self.home);
        for path in hooks.into_iter().chain(included) {
            self.visit_link(&path, path.clone(), PathAccess::ReadOnly);
        }
    }

    /// Closes the targets of symlinks in closed folders: `.git/hooks/pre-commit -> ../../scripts/pre-commit.sh`. The
    /// closed folder itself can't be changed, and targets outside the workspace are not writable.
    fn scan_closed_folders(&mut self) {
        let (mut there, mut hidden, mut left) = (0, 0, MOST_ENTRIES_IN_CLOSED);
        let (mut folders, mut seen) = (VecDeque::new(), HashSet::new());
        loop {
            // The targets of symlinks are scanned as well.
            let written = self.found.there[there..].iter().map(|path| (path.clone(), PathAccess::ReadOnly, 0));
            let read = self.found.hidden[hidden..].iter().map(|path| (path.clone(), PathAccess::Hidden, 0));
            folders.extend(written.chain(read));
            (there, hidden) = (self.found.there.len(), self.found.hidden.len());
            let Some((folder, closed, level)) = folders.pop_front() else { return };
            if !folder.starts_with(self.workspace) || !seen.insert((folder.clone(), closed)) {
                continue;
            }
            for FolderEntry { name, kind } in
                listing::list(&folder).into_iter().flatten().take(MOST_ENTRIES_IN_ONE_CLOSED)
            {
                if left == 0 {
                    return;
                }
                left -= 1;
                let path = folder.join(name);
                match kind {
                    FileType::Symlink if self.leads_into_workspace(&path) => {
                        self.visit_link(&path, path.clone(), closed);
                    }
                    FileType::Directory if level < DEEPEST_CLOSED_LEVEL => folders.push_back((path, closed, level + 1)),
                    _ => {}
                }
            }
        }
    }

    fn leads_into_workspace(&self, link: &Path) -> bool {
        let led = follow(self.workspace, link, |_| true);
        led.is_some_and(|(LinkTarget::Existing(target) | LinkTarget::Missing(target))| {
            target.starts_with(self.workspace)
        })
    }

    /// Visits the workspace's own repository, however many files are beside it, and the paths that would make it one.
    fn scan_own_repository(&mut self) {
        let workspace = self.workspace;
        for (name, obeyed) in REPOSITORIES {
            self.visit_repository(&workspace.join(name), obeyed);
        }
        if git::is_repository(|name| workspace.join(name).symlink_metadata().is_ok()) {
            git::obeyed_in(workspace).for_each(|path| self.close(&path));
        }
        for (name, obeyed) in REPOSITORIES {
            let paths = obeyed.iter().map(|inside| Path::new(name).join(inside));
            self.found.absent.extend(paths.filter_map(|path| first_missing(workspace, &path)));
        }
    }

    /// Visits the literal paths of rules, which are found even where a scan does not go.
    fn scan_literal_paths(&mut self) {
        // Most are in the same few folders.
        let mut folders: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
        for path in self.rules.literal_paths {
            if self.is_missing_at_top(path) {
                continue;
            }
            let path = self.workspace.join(path);
            let closed = (self.rules.access_to)(&path);
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            if closed == PathAccess::Open {
                continue;
            }
            let folder = match folders.get(above) {
                Some(folder) => folder,
                None => folders.entry(above.to_owned()).or_insert(self.resolve_existing(above)),
            };
            let Some(folder) = folder else { continue };
            let real = folder.join(name);
            match (real.symlink_metadata(), closed) {
                (Err(_), _) => {}
                (Ok(found), _) if found.is_symlink() => self.visit_link(&real, path, closed),
                (Ok(_), PathAccess::Hidden) => self.found.hidden.push(real),
                (Ok(_), PathAccess::ReadOnly) => self.found.there.push(real),
                (Ok(_), PathAccess::Open) => {}
            }
        }
    }

    /// Whether no entry at the top of the workspace has the first name of `path`, ignoring case. This holds for most
    /// literal paths, and one system call for each of two hundred takes as long as starting a program.
    fn is_missing_at_top(&self, path: &Path) -> bool {
        match (path.components().next(), &self.top) {
            (Some(Component::Normal(first)), Some(top)) => !top.contains(&first.to_string_lossy().to_lowercase()),
            (Some(_) | None, _) => false,
        }
    }

    /// Resolves the symlinks in the existing part of `path` and records them; `None` if one of them is new.
    fn resolve_existing(&mut self, path: &Path) -> Option<PathBuf> {
        let there = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
        let (LinkTarget::Existing(real) | LinkTarget::Missing(real)) = self.keep_links(there)?;
        Some(real.join(path.strip_prefix(there).ok()?))
    }

    /// Visits the folders in which rules close names by a pattern. One with too many entries is closed as a whole.
    fn scan_pattern_folders(&mut self) {
        let folders = self.rules.pattern_folders.iter().filter(|folder| !self.is_missing_at_top(folder));
        let folders: Vec<PathBuf> = folders.map(|folder| self.workspace.join(folder)).collect();
        for named in folders {
            if named.symlink_metadata().is_err() {
                continue;
            }
            let Some(LinkTarget::Existing(real)) = self.keep_links(&named) else { continue };
            let entries: Vec<_> = self.list(&real).into_iter().flatten().take(MOST_ENTRIES).collect();
            if entries.len() == MOST_ENTRIES {
                self.found.there.push(real);
                continue;
            }
            let folder = ScannedFolder { real, named, purpose: ScanPurpose::ByThisName };
            for FolderEntry { name, kind } in entries {
                self.visit(&folder, &name, kind);
            }
        }
    }
}

/// Returns the first component of `path` that does not exist, if all before it are folders.
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
mod tests;
