//! The environment from which confinements are derived: the workspace, the home folder, and the person's settings.

use std::path::{Path, PathBuf};

use crate::follow_links::{is_without_links, lies_in, resolve_outside};
use crate::git;
use crate::places::{HIDDEN_FOLDERS, HOME_SECRETS, PACKAGE_CACHES, SYSTEM_SECRETS, TEMP, VISIBLE_IN_HIDDEN};
use crate::protected::{self, ScanExtent};
use crate::{Confinement, Isolation, Network, SandboxMode};

/// The environment in which commands run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The mode that the person has set.
    pub mode: SandboxMode,
    /// The working directory of commands, symlinks resolved.
    pub workspace: PathBuf,
    /// The home folder whose secrets they may not read.
    pub home: Option<PathBuf>,
    /// The folders of `PATH`. If a package manager is installed in one, its missing cache folders are created.
    pub programs: Vec<PathBuf>,
    /// Additional folders they may write in.
    pub writable: Vec<PathBuf>,
    /// Paths they may read although they are on the list of secrets.
    pub readable: Vec<PathBuf>,
    /// Additional paths they may not read.
    pub unreadable: Vec<PathBuf>,
}

/// The access that rules grant to a path in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathAccess {
    /// It may be neither read nor written.
    Hidden,
    /// It may not be written.
    ReadOnly,
    /// No rule closes it.
    Open,
}

/// The rules for the files of a workspace.
#[derive(Clone, Copy)]
pub struct PathRules<'r> {
    /// Returns the access to a path; called for paths in the workspace and for literal paths.
    pub access_to: &'r dyn Fn(&Path) -> PathAccess,
    /// The literal paths of the rules, relative to the workspace.
    pub literal_paths: &'r [PathBuf],
    /// Literal folders in which rules close names by a pattern.
    pub pattern_folders: &'r [PathBuf],
    /// Whether a closed path may be below this path.
    pub may_lead_to_closed: &'r dyn Fn(&Path) -> bool,
    /// Whether a pattern denies reading, so that any folder may contain such a path.
    pub hides_by_pattern: bool,
}

impl PathRules<'_> {
    /// Rules that close nothing.
    pub const NONE: PathRules<'static> = PathRules {
        access_to: &|_| PathAccess::Open,
        literal_paths: &[],
        pattern_folders: &[],
        may_lead_to_closed: &|_| false,
        hides_by_pattern: false,
    };
}

impl std::fmt::Debug for PathRules<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PathRules").field("literal_paths", &self.literal_paths).finish_non_exhaustive()
    }
}

impl Surroundings {
    /// Returns how much of the workspace is scanned for paths that `rules` close.
    #[must_use]
    pub fn scan_extent(&self, rules: &PathRules<'_>) -> ScanExtent {
        protected::scan_workspace(&self.workspace, self.home.as_deref(), rules).scan_extent
    }

    /// Returns the confinement of a command with `temp` as its own temporary folder; `None` in mode `off`. If the
    /// network is granted, creates the missing cache folders of package managers.
    pub fn confinement(
        &self,
        isolation: Isolation,
        network: Network,
        temp: PathBuf,
        rules: &PathRules<'_>,
    ) -> Option<Confinement> {
        if self.mode == SandboxMode::Off {
            return None;
        }
        let found = protected::scan_workspace(&self.workspace, self.home.as_deref(), rules);
        let (scan_extent, links) = (found.scan_extent, found.links);
        let (writable, protected, absent, links) = match self.mode {
            SandboxMode::Off | SandboxMode::ReadOnly => (Vec::new(), Vec::new(), Vec::new(), Vec::new()),
            SandboxMode::Workspace => {
                let (mut writable, mut protected) = (self.writable_folders(network), found.there);
                let mut absent = found.absent;
                // Other kinds of isolation can't close a missing path; the cleanup after the command finds it.
                if isolation == Isolation::Seatbelt {
                    absent.extend(protected::missing_literal_paths(&self.workspace, rules));
                }
                if let Some(linked) = git::linked_worktree(&self.workspace, &self.controlled()) {
                    writable.extend(linked.writable);
                    protected.extend(linked.protected);
                    absent.extend(linked.absent);
                }
                (writable, protected, absent, links)
            }
        };
        let mut unreadable = self.secrets();
        unreadable.extend(found.hidden);
        let readable =
            VISIBLE_IN_HIDDEN.iter().map(PathBuf::from).chain([self.workspace.clone()]).chain(self.readable.clone());
        let is_hidden = |home: &PathBuf| HIDDEN_FOLDERS.iter().chain([&TEMP]).any(|folder| home.starts_with(folder));
        let home = self.home.iter().filter_map(|home| home.canonicalize().ok()).filter(is_hidden);
        Some(Confinement {
            isolation,
            writable,
            protected,
            absent,
            links,
            made_meanwhile: Vec::new(),
            scan_extent,
            cleanup: None,
            unreadable,
            readable: readable.chain(home).collect(),
            temp,
            network,
        })
    }

    fn writable_folders(&self, network: Network) -> Vec<PathBuf> {
        let caches = match network {
            Network::Off => Vec::new(),
            Network::On => self.caches(),
        };
        let controlled = self.controlled();
        let added = self.writable.iter().filter_map(|path| resolve_outside(path, &controlled));
        let mut folders = vec![self.workspace.clone()];
        for path in added.chain(caches) {
            if !lies_in(&path, &folders) {
                folders.push(path);
            }
        }
        folders
    }

    /// Returns all paths that commands may write, with or without network: a symlink in them may be a command's.
    fn controlled(&self) -> Vec<PathBuf> {
        let added = self.writable.iter().filter_map(|path| path.canonicalize().ok());
        let names = PACKAGE_CACHES.iter().flat_map(|cache| cache.folders.iter().chain(cache.files));
        let caches = self.own_home().into_iter().flat_map(|home| names.clone().map(move |name| home.join(name)));
        [self.workspace.clone()].into_iter().chain(added).chain(caches).collect()
    }

    /// Returns the home folder without symlinks, if no command can influence where it leads.
    fn own_home(&self) -> Option<PathBuf> {
        resolve_outside(self.home.as_ref()?, std::slice::from_ref(&self.workspace))
    }

    /// Returns the paths that package managers write in the home folder. A command that ran in the home folder itself
    /// may have created a symlink there: its target is not opened. Creates missing paths of package managers that are
    /// installed.
    fn caches(&self) -> Vec<PathBuf> {
        let Some(home) = self.own_home().filter(|home| home.is_dir()) else { return Vec::new() };
        let mut caches = Vec::new();
        for cache in PACKAGE_CACHES {
            let paths = |names: &[&str]| -> Vec<PathBuf> {
                let paths = names.iter().map(|name| home.join(name));
                paths.filter(|path| is_without_links(&home, path) && !path.starts_with(&self.workspace)).collect()
            };
            let (folders, files) = (paths(cache.folders), paths(cache.files));
            let is_installed = || self.programs.iter().any(|folder| folder.join(cache.program).is_file());
            if folders.iter().chain(&files).any(|path| !path.exists()) && is_installed() {
                // A path that can't be created is omitted like any missing one.
                folders.iter().for_each(|folder| drop(std::fs::create_dir_all(folder)));
                files.iter().for_each(|file| drop(std::fs::File::create_new(file)));
            }
            caches.extend(folders.into_iter().chain(files).filter(|path| path.exists()));
        }
        caches
    }

    /// Returns the existing paths that may not be read, without symlinks.
    fn secrets(&self) -> Vec<PathBuf> {
        let home = self.home.iter().flat_map(|home| HOME_SECRETS.iter().map(|name| home.join(name)));
        let all = SYSTEM_SECRETS.iter().map(PathBuf::from).chain(home).chain(self.unreadable.clone());
        let controlled = self.controlled();
        let readable: Vec<PathBuf> =
            self.readable.iter().filter_map(|path| resolve_outside(path, &controlled)).collect();
        // Most don't exist, which one system call shows; resolving a path takes several.
        let there = all.filter(|path| path.symlink_metadata().is_ok());
        let mut secrets: Vec<PathBuf> = there.filter_map(|path| path.canonicalize().ok()).collect();
        // The workspace may be in a folder that may not be read.
        let is_open =
            |path: &PathBuf| self.workspace.starts_with(path) || readable.iter().any(|open| path.starts_with(open));
        secrets.retain(|path| !is_open(path));
        secrets.sort();
        secrets.dedup();
        secrets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings() -> (tempfile::TempDir, Surroundings) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["home/.ssh", "home/.aws", "home/.cargo/registry", "work/secrets", "more"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        std::fs::write(root.join("work/AGENTS.md"), "").unwrap();
        let (home, writable) = (Some(root.join("home")), vec![root.join("more"), root.join("none")]);
        let surroundings = Surroundings { workspace: root.join("work"), home, writable, ..Surroundings::default() };
        (folder, surroundings)
    }

    fn confinement(surroundings: &Surroundings, network: Network) -> Option<Confinement> {
        let closed = |path: &Path| match path.file_name().and_then(std::ffi::OsStr::to_str) {
            Some("secrets") => PathAccess::Hidden,
            Some("AGENTS.md") => PathAccess::ReadOnly,
            Some(_) | None => PathAccess::Open,
        };
        let rules = PathRules { access_to: &closed, ..PathRules::NONE };
        surroundings.confinement(Isolation::Namespaces, network, PathBuf::from("/t"), &rules)
    }

    // proves X3
    #[test]
    fn a_mode_says_what_is_written_and_off_says_nothing() {
        let (folder, mut surroundings) = surroundings();
        let root = folder.path().canonicalize().unwrap();
        let workspace = confinement(&surroundings, Network::Off).unwrap();
        assert_eq!(workspace.writable, [root.join("work"), root.join("more")]);
        assert_eq!(workspace.protected, [root.join("work/AGENTS.md")]);
        assert!(workspace.unreadable.contains(&root.join("work/secrets")));
        surroundings.mode = SandboxMode::ReadOnly;
        let read_only = confinement(&surroundings, Network::Off).unwrap();
        assert_eq!((read_only.writable, read_only.absent), (Vec::new(), Vec::new()));
        surroundings.mode = SandboxMode::Off;
        assert_eq!(confinement(&surroundings, Network::Off), None);
    }

    // proves X3
    #[test]
    fn secrets_of_the_home_folder_are_kept_unless_the_person_opens_one() {
        let (folder, mut surroundings) = surroundings();
        let home = folder.path().canonicalize().unwrap().join("home");
        let hidden = confinement(&surroundings, Network::Off).unwrap().unreadable;
        assert!(hidden.contains(&home.join(".ssh")) && hidden.contains(&home.join(".aws")));
        surroundings.readable = vec![home.join(".aws")];
        let hidden = confinement(&surroundings, Network::Off).unwrap().unreadable;
        assert!(hidden.contains(&home.join(".ssh")) && !hidden.contains(&home.join(".aws")));
    }

    // proves X3
    #[test]
    fn package_caches_are_written_where_the_network_is_granted() {
        let (folder, surroundings) = surroundings();
        let cache = folder.path().canonicalize().unwrap().join("home/.cargo/registry");
        assert!(!confinement(&surroundings, Network::Off).unwrap().writable.contains(&cache));
        assert!(confinement(&surroundings, Network::On).unwrap().writable.contains(&cache));
    }
    // proves X3: the first download in a home folder
    #[test]
    fn the_caches_of_package_managers_that_are_installed_are_made_where_the_network_is_granted() {
        let (folder, mut surroundings) = surroundings();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("bin")).unwrap();
        std::fs::write(root.join("bin/npm"), "").unwrap();
        surroundings.programs = vec![root.join("none"), root.join("bin")];
        let cache = root.join("home/.npm");
        assert!(!confinement(&surroundings, Network::Off).unwrap().writable.contains(&cache) && !cache.exists());
        assert!(confinement(&surroundings, Network::On).unwrap().writable.contains(&cache) && cache.is_dir());
        assert!(!root.join("home/.m2").exists(), "nobody has it");
    }

    // proves X3: `ln -s /victim ~/.cache` by a command that ran in the home folder
    #[test]
    fn what_a_link_that_a_command_can_make_leads_to_is_not_opened() {
        let (folder, mut surroundings) = surroundings();
        let root = folder.path().canonicalize().unwrap();
        let home = root.join("home");
        for path in ["bin", "victim"] {
            std::fs::create_dir(root.join(path)).unwrap();
        }
        std::fs::write(root.join("bin/mvn"), "").unwrap();
        for link in ["home/.cache", "home/.m2", "work/link"] {
            std::os::unix::fs::symlink(root.join("victim"), root.join(link)).unwrap();
        }
        std::os::unix::fs::symlink(home.join(".ssh"), root.join("work/ssh")).unwrap();
        surroundings.programs = vec![root.join("bin")];
        surroundings.writable.push(root.join("work/link"));
        surroundings.readable.push(root.join("work/ssh"));
        let held = confinement(&surroundings, Network::On).unwrap();
        let opened = held.writable.iter().find(|path| path.starts_with(root.join("victim")));
        assert_eq!((opened, root.join("victim").read_dir().unwrap().count()), (None, 0));
        assert!(held.unreadable.contains(&home.join(".ssh")));
        surroundings.workspace = home.clone();
        surroundings.writable.pop();
        let held = confinement(&surroundings, Network::On).unwrap();
        assert_eq!(held.writable, [home, root.join("more")]);
    }

    // proves X3
    #[test]
    fn a_home_folder_in_the_temporary_folder_of_all_is_seen() {
        let home = tempfile::tempdir_in("/tmp").unwrap();
        let path = home.path().canonicalize().unwrap();
        let (_folder, surroundings) = surroundings();
        let surroundings = Surroundings { home: Some(path.clone()), ..surroundings };
        assert!(confinement(&surroundings, Network::Off).unwrap().readable.contains(&path));
    }
}
