//! What may not be changed by a command: where it is in a workspace.
//!
//! What is protected is said by whoever calls ([`PathRules`]), but for repositories: one's own folder stays writable, for
//! `git commit` must work in it, and only what version control runs or reads its settings from does not. What is not
//! there yet can't be covered, so it is set aside after the command: whatever a second look finds that the first did not,
//! and a repository that was not there ([`Confinement::absent`]). A look ends after so many entries; what is spelled out
//! is looked for by its path, whatever else is in the workspace.

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

/// The folders of repositories, and what version control runs, or is configured or led elsewhere by, in each.
const REPOSITORIES: [(&str, &[&str]); 3] =
    [(".git", &git::OBEYED_BY_GIT), (".hg", &["hgrc", "hgrc-not-shared"]), (".svn", &["hooks"])];

/// Folders that are not looked into: what is in them was made by tools, and is much.
const SKIPPED_FOLDERS: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__"];

/// How many entries of a workspace are looked at before each command.
const MOST_ENTRIES: usize = 5_000;

/// How many after it: what it has made itself is looked through.
const MOST_ENTRIES_AFTERWARDS: usize = 100_000;

/// How many entries of closed folders are looked at for links, in all, in one of them, and how far down.
const MOST_ENTRIES_IN_CLOSED: usize = 5_000;
const MOST_ENTRIES_IN_ONE_CLOSED: usize = 1_000;
const DEEPEST_CLOSED_LEVEL: usize = 4;

/// How far a workspace was looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScanExtent {
    /// All of it.
    #[default]
    Complete,
    /// All of it but folders that build tools fill.
    WithoutBuildFolders,
    /// Its first entries, of which there are too many.
    FirstEntries,
}

/// What was found in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanResult {
    /// What is there and may not be changed.
    pub(crate) there: Vec<PathBuf>,
    /// What of repositories is not there, and may not be made.
    pub(crate) absent: Vec<PathBuf>,
    /// What is there and may not be read.
    pub(crate) hidden: Vec<PathBuf>,
    /// Links that are closed, or lead to what is.
    pub(crate) links: Vec<ProtectedLink>,
    /// How far it was looked for.
    pub(crate) scan_extent: ScanExtent,
}

/// Looks through `workspace`, the top first, for what `rules` close, and for what git obeys by the settings of the person
/// whose home folder is `home`.
pub(crate) fn scan_workspace(workspace: &Path, home: Option<&Path>, rules: &PathRules<'_>) -> ScanResult {
    WorkspaceScan { home, ..WorkspaceScan::new(workspace, rules, None) }.run(MOST_ENTRIES)
}

/// What `rules` spell out in `workspace` and is not there, for those who can close it before it is made.
pub(crate) fn missing_literal_paths(workspace: &Path, rules: &PathRules<'_>) -> Vec<PathBuf> {
    let mut look = WorkspaceScan::new(workspace, rules, None);
    let literal_paths = rules.literal_paths.iter().map(|path| workspace.join(path));
    let missing =
        literal_paths.filter(|path| (rules.access_to)(path) != PathAccess::Open && path.symlink_metadata().is_err());
    let real = missing.filter_map(|path| Some(look.resolve_existing(path.parent()?)?.join(path.file_name()?)));
    real.filter(|path| path.starts_with(workspace)).collect()
}

/// What `rules` close in `workspace` and was not there when a command was held to `before`, the outermost first. Where
/// the workspace was too large to be looked through, only what is found without that.
pub fn new_closed_paths(workspace: &Path, rules: &PathRules<'_>, before: &Confinement) -> Vec<PathBuf> {
    let most = match before.scan_extent {
        ScanExtent::Complete | ScanExtent::WithoutBuildFolders => MOST_ENTRIES_AFTERWARDS,
        ScanExtent::FirstEntries => 0,
    };
    let found = WorkspaceScan::new(workspace, rules, Some(before)).run(most);
    let known: HashSet<&Path> =
        closed_before(before).chain(before.links.iter().map(|link| &link.path)).map(PathBuf::as_path).collect();
    let now = found.there.into_iter().chain(found.hidden).chain(found.links.into_iter().map(|link| link.path));
    // What is in a folder that is closed as a whole was there.
    let is_known = |path: &PathBuf| path.ancestors().any(|above| known.contains(above));
    let is_new = |path: &PathBuf| path.starts_with(workspace) && !is_known(path);
    let mut new: Vec<PathBuf> = now.filter(is_new).collect();
    new.sort();
    new.dedup();
    new
}

/// What was closed, and made by no command beside that one.
fn closed_before(before: &Confinement) -> impl Iterator<Item = &PathBuf> {
    let closed = before.protected.iter().chain(&before.unreadable);
    closed.filter(|path| !before.made_meanwhile.contains(path))
}

/// A folder that is looked into.
struct ScannedFolder {
    /// Where it is.
    real: PathBuf,
    /// What rules know it by, which is through a link if one leads to it.
    named: PathBuf,
    purpose: ScanPurpose,
}

/// What a folder is looked into for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanPurpose {
    /// All that may be in it, and below it.
    All,
    /// What rules close when it is reached by the name it has here. It is looked through under its own name besides.
    ByThisName,
    /// What may not be read: writing is closed to all of it.
    Hidden,
}

struct WorkspaceScan<'l> {
    workspace: &'l Path,
    /// Whose settings git reads besides those of a repository.
    home: Option<&'l Path>,
    rules: &'l PathRules<'l>,
    /// What was found before, in a second look. Other links are a command's, and lead wherever it likes.
    before: Option<&'l Confinement>,
    found: ScanResult,
    folders: VecDeque<ScannedFolder>,
    /// The names at the top of the workspace, in lower case, if all of them were seen.
    top: Option<HashSet<String>>,
    /// Which folders links were followed to, under which names: links go round.
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
        // A second look knows what the first has closed: nobody has changed a link in there.
        if self.before.is_none() {
            self.scan_closed_folders();
        }
        let mut found = self.found;
        for paths in [&mut found.there, &mut found.absent] {
            paths.retain(|path| path.starts_with(self.workspace));
        }
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
        let (mut left, mut top) = (most, Some(HashSet::new()));
        while let Some(folder) = self.folders.pop_front() {
            let mut markers = Vec::new();
            let entries = self.list(&folder.real);
            // Of a folder that can't be listed it is not known what is in it.
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

    /// What is in a folder. One that can't be listed is closed as a whole: the command, as its owner, could let itself in.
    /// If the command has shut it, it is opened again.
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

    /// Closes to writing what is at `path`, and what it leads to if it is a link.
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

    /// A link can't be covered. What it leads to can, and the link is put back where it was changed.
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
            // The workspace itself stays open; and a second look knows what the first has covered.
            (PathAccess::Hidden | PathAccess::ReadOnly, LinkTarget::Existing(target))
                if self.workspace.starts_with(&target) || self.before.is_some() => {}
            (PathAccess::Hidden, LinkTarget::Existing(target)) => self.found.hidden.push(target),
            (PathAccess::ReadOnly, LinkTarget::Existing(target)) => self.found.there.push(target),
            (PathAccess::Hidden | PathAccess::ReadOnly, LinkTarget::Missing(target)) => self.found.absent.push(target),
        }
    }

    /// Keeps the links of the workspace that `path` leads through. Where it leads, if not through a link that is new.
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

    /// What leads version control in the repository whose folder this is, where it is there.
    fn visit_repository(&mut self, path: &Path, obeyed: &[&str]) {
        let Ok(found) = path.symlink_metadata() else { return };
        // A file of this name leads to a repository elsewhere.
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

    /// What the settings of the repository at `git` have git obey elsewhere.
    fn visit_settings(&mut self, git: &Path) {
        let GitSettings { hooks, included } = GitSettings::of(git, self.home);
        for path in hooks.into_iter().chain(included) {
            self.visit_link(&path, path.clone(), PathAccess::ReadOnly);
        }
    }

    /// Closes what links in closed folders lead to: `.git/hooks/pre-commit -> ../../scripts/pre-commit.sh`. The folder
    /// itself can't be changed; what is outside the workspace is nobody's to write.
    fn scan_closed_folders(&mut self) {
        let (mut there, mut hidden, mut left) = (0, 0, MOST_ENTRIES_IN_CLOSED);
        let (mut folders, mut seen) = (VecDeque::new(), HashSet::new());
        loop {
            // What a link has led to is looked into as well.
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

    /// The workspace's own repository, however many files are beside it, and what would make it one.
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

    /// What rules spell out, which is found wherever it is, also where a look does not go.
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

    /// Whether nothing at the top of the workspace has the name that `path` begins with, in any case of letters. That is
    /// so of most, and asking the kernel about each of two hundred takes as long as starting a program.
    fn is_missing_at_top(&self, path: &Path) -> bool {
        match (path.components().next(), &self.top) {
            (Some(Component::Normal(first)), Some(top)) => !top.contains(&first.to_string_lossy().to_lowercase()),
            (Some(_) | None, _) => false,
        }
    }

    /// `path` without links as far as it is there. Those on the way are kept; none if one of them is new.
    fn resolve_existing(&mut self, path: &Path) -> Option<PathBuf> {
        let there = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
        let (LinkTarget::Existing(real) | LinkTarget::Missing(real)) = self.keep_links(there)?;
        Some(real.join(path.strip_prefix(there).ok()?))
    }

    /// The folders in which rules close names by a pattern. One that has too much in it is closed as a whole.
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
mod tests;
