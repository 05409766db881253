//! The other names of a file (X5): rules go by names, and the target of a symlink has the symlink's name too. Where
//! `CLAUDE.md` is a symlink to `docs/ai.md`, writing the second writes the first. A folder that a repository's settings
//! name as its hooks folder has the name `.git/hooks` too.
//!
//! A scan of the workspace finds the symlinks. It covers the same part as the sandbox's scan: the first entries,
//! breadth first, without folders that build tools fill. The scan is repeated when it is two seconds old, not for every
//! call. A command in the sandbox can't create a symlink with a name that a rule matches.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use windlass_sandbox::{GitSettings, git_folders};

use crate::protected_list::built_in_paths;
use crate::real_path::real_path;

/// How many entries of a workspace are scanned.
const MOST_ENTRIES: usize = 5_000;

/// Folders that are not scanned.
const SKIPPED_FOLDERS: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__"];

/// Entries of a repository's own folder that git obeys and that may be symlinks.
const IN_REPOSITORY: &[&str] = &["hooks", "config", "config.worktree", "info", "info/attributes"];

/// How many entries of a hooks folder are scanned.
const MOST_HOOKS: usize = 1_000;

/// How long a scan is used.
const CACHED_FOR: Duration = Duration::from_secs(2);

/// How many names reached through more than one symlink are collected: symlinks can form cycles.
const MOST_NAMES: usize = 32;

/// As many symlinks as the kernel follows.
const MOST_LINKS: usize = 40;

/// A name that a file has because of a symlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherName {
    /// The path relative to the workspace, in lower case.
    pub(crate) path: String,
    /// Why the file has this name, for people.
    pub(crate) because: Arc<str>,
}

/// A symlink or setting that gives a path another name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NameSource {
    /// The other name, in lower case.
    name: String,
    /// The reason: a symlink, or a setting of git.
    because: Arc<str>,
    what: NamedPart,
}

/// How a path is related to its other name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedPart {
    /// The path itself is the target: paths below it are below the other name too.
    Whole,
    /// The path is a symlink that the other name leads through.
    Through,
}

/// All other names in a workspace, by target: a path in lower case, empty for the workspace itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OtherNames(HashMap<String, Vec<NameSource>>);

/// The result of the last scan.
#[derive(Debug, Default)]
pub(crate) struct CachedNames(Mutex<Option<(Instant, Arc<OtherNames>)>>);

impl CachedNames {
    /// Returns the other names in the workspace at `root`, from a scan at most two seconds old.
    pub(crate) fn at(&self, root: &Path) -> Arc<OtherNames> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, seen)) if at.elapsed() < CACHED_FOR => Arc::clone(seen),
            Some(_) | None => {
                // Git reads the settings of the user who runs it.
                let seen = Arc::new(OtherNames::scan(root, std::env::home_dir().as_deref()));
                *last = Some((Instant::now(), Arc::clone(&seen)));
                seen
            }
        }
    }

    /// Discards the scan once the change under this guard is done: a symlink may lead elsewhere then.
    pub(crate) fn change_guard<'w>(&'w self, guard: MutexGuard<'w, ()>) -> ChangeGuard<'w> {
        ChangeGuard { _guard: guard, cached_names: self }
    }
}

/// Held by the call that changes files.
pub(crate) struct ChangeGuard<'w> {
    _guard: MutexGuard<'w, ()>,
    cached_names: &'w CachedNames,
}

impl Drop for ChangeGuard<'_> {
    fn drop(&mut self) {
        *self.cached_names.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl OtherNames {
    /// Scans the workspace at `root`, a path without symlinks. Git obeys the settings in `home`.
    fn scan(root: &Path, home: Option<&Path>) -> Self {
        let mut found = Self::default();
        let mut folders = VecDeque::from([root.to_owned()]);
        let mut left = MOST_ENTRIES;
        while let Some(folder) = folders.pop_front() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                if left == 0 {
                    folders.clear();
                    break;
                }
                left -= 1;
                let (name, path) = (entry.file_name(), entry.path());
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => found.add_link(root, &path),
                    Ok(kind)
                        if kind.is_dir() && name != ".git" && SKIPPED_FOLDERS.iter().all(|passed| name != *passed) =>
                    {
                        folders.push_back(path.clone());
                    }
                    Ok(_) | Err(_) => {}
                }
                if name == ".git" {
                    found.add_repository(root, &path, home);
                }
            }
        }
        // Protected paths beyond the scanned part.
        for path in built_in_paths() {
            found.add_if_link(root, &root.join(path));
        }
        if left == 0 {
            found.add_repository(root, &root.join(".git"), home);
        }
        found
    }

    fn add_repository(&mut self, root: &Path, git: &Path, home: Option<&Path>) {
        IN_REPOSITORY.iter().for_each(|name| self.add_if_link(root, &git.join(name)));
        for folder in git_folders(git) {
            self.add_links_in(root, &folder.join("hooks"), &git.join("hooks"));
        }
        let GitSettings { hooks, included } = GitSettings::of(git, home);
        for folder in hooks {
            self.add_links_in(root, &folder, &git.join("hooks"));
            self.add_named(root, &folder, &git.join("hooks"), "git: core.hooksPath names it");
        }
        for file in included {
            self.add_named(root, &file, &git.join("config"), "git: its settings include it");
        }
    }

    /// Records `name` as another name of `path`.
    fn add_named(&mut self, root: &Path, path: &Path, name: &Path, because: &str) {
        let path = real_path(path).unwrap_or(path.to_owned());
        self.add(
            root,
            &path,
            NameSource { name: name_of(root, name), because: because.into(), what: NamedPart::Whole },
        );
    }

    /// Records the targets of the symlinks in a hooks folder, which has the name `name`.
    fn add_links_in(&mut self, root: &Path, folder: &Path, name: &Path) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_HOOKS) {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.add_link_named(root, &entry.path(), &name.join(entry.file_name()));
            }
        }
    }

    fn add_if_link(&mut self, root: &Path, path: &Path) {
        if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            self.add_link(root, path);
        }
    }

    fn add_link(&mut self, root: &Path, link: &Path) {
        self.add_link_named(root, link, link);
    }

    /// Records `name` as another name of a symlink's target.
    fn add_link_named(&mut self, root: &Path, link: &Path, name: &Path) {
        let because = format!("{} is a link to it", link.strip_prefix(root).unwrap_or(link).display());
        let lead = |what| NameSource { name: name_of(root, name), because: because.as_str().into(), what };
        let mut passed = link_chain(link);
        let end = passed.pop();
        end.iter().for_each(|end| self.add(root, end, lead(NamedPart::Whole)));
        passed.iter().for_each(|link| self.add(root, link, lead(NamedPart::Through)));
    }

    /// Records another name of `target`, if that is in the workspace.
    fn add(&mut self, root: &Path, target: &Path, lead: NameSource) {
        if target.starts_with(root) {
            let leads = self.0.entry(name_of(root, target)).or_default();
            if leads.iter().all(|known| known.name != lead.name) {
                leads.push(lead);
            }
        }
    }

    /// Returns the other names of `path`, whose own symlinks are resolved.
    pub(crate) fn of(&self, path: &str) -> Vec<OtherName> {
        let mut names: Vec<OtherName> = Vec::new();
        if self.0.is_empty() || path.starts_with('/') || path.starts_with("..") {
            return names;
        }
        let path = if path == "." { String::new() } else { path.to_lowercase() };
        names.extend(self.one_step(&path, |_, _| true));
        // A symlink may be in a folder that itself has another name. A symlink cycle adds nothing but itself.
        let (mut looked_at, most) = (0, names.len() + MOST_NAMES);
        while let Some(name) = names.get(looked_at).cloned().filter(|_| names.len() < most) {
            looked_at += 1;
            for next in
                self.one_step(&name.path, |target, lead| lead.what == NamedPart::Whole && !is_in(&lead.name, target))
            {
                if next.path != path && names.iter().all(|known| known.path != next.path) {
                    names.push(OtherName { because: Arc::clone(&name.because), ..next });
                }
            }
        }
        names
    }

    /// Returns the other names of everything that may be below `path`.
    pub(crate) fn below(&self, path: &str) -> Vec<OtherName> {
        let path = if path == "." { String::new() } else { path.to_lowercase() };
        let inside = self.0.iter().filter(|(target, _)| **target != path && is_in(target, &path));
        let leads = inside.flat_map(|(_, leads)| leads);
        leads.map(|lead| OtherName { path: lead.name.clone(), because: Arc::clone(&lead.because) }).collect()
    }

    /// Returns the other names of `path` that it, or a folder it is in, has from one source for which `counts` is true.
    fn one_step(&self, path: &str, counts: impl Fn(&str, &NameSource) -> bool) -> Vec<OtherName> {
        let ends = path.rmatch_indices('/').map(|(at, _)| at);
        let ends = [path.len()].into_iter().chain(ends).chain((!path.is_empty()).then_some(0));
        let mut names = Vec::new();
        for target in ends.map(|end| &path[..end]) {
            let rest = path[target.len()..].trim_start_matches('/');
            let is_led_to = |lead: &&NameSource| rest.is_empty() || lead.what == NamedPart::Whole;
            let leads = self.0.get(target).into_iter().flatten().filter(is_led_to);
            for lead in leads.filter(|lead| counts(target, lead)) {
                let path = if rest.is_empty() { lead.name.clone() } else { format!("{}/{rest}", lead.name) };
                names.push(OtherName { path, because: Arc::clone(&lead.because) });
            }
        }
        names
    }
}

/// Returns a path relative to the workspace at `root`, in lower case.
fn name_of(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().to_lowercase()
}

/// Whether `path` is `folder` or in it.
fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the symlinks that a symlink leads through, and then its target, whether that exists or not: moving any of
/// these redirects the symlink.
fn link_chain(link: &Path) -> Vec<PathBuf> {
    let (Some(Ok(mut at)), Ok(target)) = (link.parent().map(Path::canonicalize), link.read_link()) else {
        return Vec::new();
    };
    let (mut rest, mut passed) = (parts(&target), Vec::new());
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(part);
        match next.read_link() {
            Ok(_) if passed.len() == MOST_LINKS => return Vec::new(),
            Ok(target) => {
                passed.push(next);
                rest = parts(&target).into_iter().chain(rest).collect();
            }
            Err(_) => at = next,
        }
    }
    passed.push(at);
    passed
}

/// Splits a path into components; the root is one of them, and leads to `/` from anywhere.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components().filter(|part| *part != Component::CurDir).map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn workspace(files: &[&str], links: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in files.iter().chain(links.iter().map(|(link, _)| link)) {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        }
        files.iter().for_each(|path| std::fs::write(root.join(path), "x").unwrap());
        links.iter().for_each(|(link, target)| symlink(target, root.join(link)).unwrap());
        (folder, root)
    }

    fn names(root: &Path, path: &str) -> Vec<String> {
        let mut names: Vec<String> = OtherNames::scan(root, None).of(path).into_iter().map(|name| name.path).collect();
        names.sort();
        names
    }

    // proves X5
    #[test]
    fn what_a_link_leads_to_has_the_name_of_the_link_too() {
        let (_folder, root) = workspace(
            &["docs/ai.md", "conf/real.env", "ci/a"],
            &[
                ("CLAUDE.md", "docs/ai.md"),
                ("apps/web/.env", "../../conf/real.env"),
                (".vscode", "gen/vscode"),
                (".github", "ci"),
                ("ci/workflows", "../flows"),
                ("twice", "CLAUDE.md"),
                ("folder", "docs"),
                ("QWEN.md", "folder/new.md"),
                ("out", "/etc"),
            ],
        );
        for (path, want) in [
            ("docs/ai.md", &["claude.md", "folder/ai.md", "twice"][..]),
            ("Docs/AI.md", &["claude.md", "folder/ai.md", "twice"]),
            ("conf/real.env", &["apps/web/.env"]),
            ("gen/vscode/tasks.json", &[".vscode/tasks.json"]),
            ("gen/vscode", &[".vscode"]),
            ("gen", &[]),
            ("flows/x.yml", &[".github/workflows/x.yml", "ci/workflows/x.yml"]),
            ("docs/ai.md.orig", &["folder/ai.md.orig"]),
            ("conf/real.env.orig", &[]),
            ("docs/new.md", &["folder/new.md", "qwen.md"]),
            ("docs", &["folder"]),
            ("CLAUDE.md", &["twice"]),
            ("folder", &["qwen.md"]),
            (".", &[]),
            ("/etc/passwd", &[]),
        ] {
            assert_eq!(names(&root, path), want, "{path}");
        }
        let below: Vec<String> =
            OtherNames::scan(&root, None).below("docs").into_iter().map(|name| name.path).collect();
        assert!(below.contains(&"claude.md".to_owned()) && !below.contains(&".github".to_owned()), "{below:?}");
    }

    // proves X5: symlink cycles end, and hide no other symlink
    #[test]
    fn links_that_lead_round_are_followed_once() {
        let (_folder, root) = workspace(
            &["flows/x"],
            &[
                ("a", "."),
                ("b", "."),
                ("c/d", ".."),
                ("e", "f"),
                ("f", "e"),
                ("g", "g"),
                (".github", "ci"),
                ("ci/workflows", "../flows"),
            ],
        );
        let names = names(&root, "flows/x");
        assert!(names.contains(&".github/workflows/x".to_owned()) && names.len() < 2 * MOST_NAMES, "{names:?}");
    }

    // proves X5
    #[test]
    fn the_folder_of_hooks_goes_by_the_name_of_the_usual_one() {
        let (_folder, root) =
            workspace(&["tools/hooks/x", "sub/.git/HEAD", "s/h/x"], &[("sub/.git/hooks", "../../s/h")]);
        std::fs::create_dir(root.join(".git")).unwrap();
        std::fs::write(root.join(".git/config"), "[core]\nhooksPath = tools/hooks\n").unwrap();
        assert_eq!(names(&root, "tools/hooks/pre-commit"), [".git/hooks/pre-commit"]);
        assert_eq!(names(&root, "s/h/pre-commit"), ["sub/.git/hooks/pre-commit"]);
        assert_eq!(&*OtherNames::scan(&root, None).of("tools/hooks")[0].because, "git: core.hooksPath names it");
    }

    // proves X5: `.git/hooks/pre-commit -> ../../scripts/pre-commit.sh`, which git runs
    #[test]
    fn what_a_link_among_hooks_leads_to_is_a_hook() {
        let files = ["scripts/a.sh", "scripts/b.sh", "main/HEAD", "lib/x", "mine/x"];
        let links = [(".git/hooks/pre-commit", "../../scripts/a.sh"), ("main/hooks/pre-push", "../../scripts/b.sh")];
        let (_folder, root) = workspace(&files, &links);
        std::fs::write(root.join("lib/.git"), "gitdir: ../main\n").unwrap();
        assert_eq!(names(&root, "scripts/a.sh"), [".git/hooks/pre-commit"]);
        assert!(names(&root, "scripts/b.sh").contains(&"lib/.git/hooks/pre-push".to_owned()));
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".gitconfig"), "[core]\nhooksPath = mine\n").unwrap();
        let names = OtherNames::scan(&root, Some(home.path())).of("mine/pre-commit");
        assert!(names.iter().any(|name| name.path == ".git/hooks/pre-commit"), "{names:?}");
    }

    // proves X5: git obeys a file that its settings include
    #[test]
    fn a_file_that_settings_include_goes_by_their_name() {
        let (_folder, root) = workspace(&["build/settings", ".git/HEAD"], &[]);
        std::fs::write(root.join(".git/config"), "[include]\npath = ../build/settings\n").unwrap();
        assert_eq!(names(&root, "build/settings"), [".git/config"]);
    }
}
