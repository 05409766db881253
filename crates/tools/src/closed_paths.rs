//! Paths that rules close to commands: those they forbid to file tools, and those protected from file tools (X3).

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use windlass_sandbox::{CleanupRules, PathAccess, PathRules};

use crate::path_pattern::PathPattern;
use crate::{AccessKind, Permissions};

/// The path rules of permissions, prepared for thousands of lookups.
#[derive(Debug)]
pub(crate) struct ClosedPaths {
    /// The literal paths.
    pub(crate) literal_paths: Vec<PathBuf>,
    /// The literal folders of patterns whose last name has a star.
    pub(crate) pattern_folders: Vec<PathBuf>,
    /// Whether rules forbid files by patterns without a literal path, or with one that may be in any folder.
    pub(crate) denies_by_pattern: bool,
    denies_files: bool,
    protected: ProtectedNames,
    folders_above: FoldersAbove,
}

impl ClosedPaths {
    pub(crate) fn new(permissions: &Permissions) -> Self {
        let forbidden = || permissions.deny.iter().filter_map(|rule| rule.forbidden_files());
        let denied: Vec<Option<String>> =
            forbidden().map(|pattern| pattern.and_then(PathPattern::literal_path)).collect();
        let is_anywhere = |pattern: &PathPattern| pattern.is_in_any_folder() || pattern.literal_path().is_none();
        let patterns = || permissions.protected.patterns();
        let protected = patterns().filter_map(|text| PathPattern::new(text).ok()?.literal_path());
        let folders_above = patterns().map(str::to_owned).chain(denied.iter().flatten().map(|path| format!("/{path}")));
        Self {
            pattern_folders: patterns().filter_map(pattern_folder).collect(),
            folders_above: FoldersAbove::of(folders_above),
            denies_by_pattern: forbidden().any(|pattern| pattern.is_none_or(is_anywhere)),
            denies_files: !denied.is_empty(),
            protected: ProtectedNames::of(patterns()),
            literal_paths: protected.chain(denied.into_iter().flatten()).map(PathBuf::from).collect(),
        }
    }

    /// Rebuilds the permissions in the guard process, which receives the rules as text.
    pub(crate) fn permissions_of(cleanup: &CleanupRules) -> Permissions {
        let deny = cleanup.denied.iter().filter_map(|rule| rule.parse().ok()).collect();
        let mut permissions = Permissions { deny, ..Permissions::default() };
        // Each string came from a valid pattern, so `add` can't fail.
        for pattern in &cleanup.protected {
            let _ = permissions.protected.add(pattern);
        }
        for pattern in &cleanup.exceptions {
            let _ = permissions.protected.except(pattern);
        }
        permissions
    }

    /// Returns the rules for the scan of `workspace` after a command has ended. Rules that deny everything are left
    /// out: they deny a tool rather than a path, and commands may create files all the same.
    pub(crate) fn cleanup_rules(permissions: &Permissions, workspace: &Path) -> CleanupRules {
        let is_pattern = |pattern: Option<&PathPattern>| pattern.is_some_and(|pattern| !pattern.is_everything());
        let denied = permissions.deny.iter().filter(|rule| rule.forbidden_files().is_some_and(is_pattern));
        CleanupRules {
            workspace: workspace.to_owned(),
            protected: permissions.protected.added().map(str::to_owned).collect(),
            exceptions: permissions.protected.exceptions().map(str::to_owned).collect(),
            denied: denied.map(ToString::to_string).collect(),
        }
    }

    /// Calls back with the access that `permissions`, which this was made from, gives in a workspace at `root`.
    pub(crate) fn with_rules<T>(
        &self,
        permissions: &Permissions,
        root: &Path,
        ask: impl FnOnce(&PathRules<'_>) -> T,
    ) -> T {
        let closed = |path: &Path| -> PathAccess { self.access_to(permissions, root, path) };
        let leads = |path: &Path| path.strip_prefix(root).is_ok_and(|path| self.folders_above.contains(path));
        ask(&PathRules {
            access_to: &closed,
            literal_paths: &self.literal_paths,
            pattern_folders: &self.pattern_folders,
            may_lead_to_closed: &leads,
            hides_by_pattern: self.denies_by_pattern,
        })
    }

    /// Returns the access that `permissions`, which this was made from, gives to `path` in a workspace at `root`.
    fn access_to(&self, permissions: &Permissions, root: &Path, path: &Path) -> PathAccess {
        let inside = path.strip_prefix(root).ok();
        // Invalid UTF-8 matches no pattern, and must not hide the rest of the path.
        let text = &*inside.unwrap_or(path).to_string_lossy();
        let is_protected = || {
            inside.is_some()
                && self.protected.may_mean(text)
                // Only a part of a repository is closed (by `windlass_sandbox`): commits are written there.
                && !text.split('/').any(is_version_control)
                && permissions.protected.protecting(text).is_some()
        };
        let roots = [root.to_owned()];
        let forbids = |access| self.denies_files && permissions.denying_access(access, text, &roots).is_some();
        match (forbids(AccessKind::Read), forbids(AccessKind::Write) || is_protected()) {
            (true, _) => PathAccess::Hidden,
            (false, true) => PathAccess::ReadOnly,
            (false, false) => PathAccess::Open,
        }
    }
}

/// The last names of the paths that patterns match. A scan of a workspace visits a folder before its content, so a path
/// with another last name can't match; asking each of two hundred patterns would take longer than starting the
/// command.
#[derive(Debug, Default)]
struct ProtectedNames {
    whole: HashSet<String>,
    /// Prefix and suffix of last names with a star.
    ends: Vec<(String, String)>,
}

impl ProtectedNames {
    fn of<'p>(patterns: impl Iterator<Item = &'p str>) -> Self {
        let mut names = Self::default();
        for pattern in patterns {
            let name = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_lowercase();
            match (name.find(['*', '\\']), name.rfind(['*', '\\'])) {
                (Some(first), Some(_)) if name.contains('\\') => {
                    names.ends.push((name[..first].to_owned(), String::new()));
                }
                (Some(first), Some(last)) => names.ends.push((name[..first].to_owned(), name[last + 1..].to_owned())),
                (None, _) | (_, None) => drop(names.whole.insert(name)),
            }
        }
        names
    }

    fn may_mean(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
        self.whole.contains(&name)
            || self.ends.iter().any(|(begin, end)| name.starts_with(begin.as_str()) && name.ends_with(end.as_str()))
    }
}

/// Returns the literal folder before a last name with a star: `.cargo` of `**/.cargo/config*`.
fn pattern_folder(pattern: &str) -> Option<PathBuf> {
    let (folder, last) = pattern.strip_prefix("**/").unwrap_or(pattern).rsplit_once('/')?;
    (last.contains('*') && !folder.contains(['*', '\\'])).then(|| PathBuf::from(folder))
}

/// The parent folders of the paths that patterns match: a symlink in place of one redirects them.
#[derive(Debug, Default)]
struct FoldersAbove {
    /// Their last names, for a quick check, because most paths have another.
    names: HashSet<String>,
    /// Their components, in lower case. A list that begins with an empty one is relative to the workspace, others match
    /// anywhere.
    parts: Vec<Vec<String>>,
}

impl FoldersAbove {
    fn of(patterns: impl Iterator<Item = String>) -> Self {
        let mut folders_above = Self::default();
        for pattern in patterns.filter(|pattern| !pattern.contains('\\')) {
            let (root, pattern) = match pattern.strip_prefix("**/") {
                Some(pattern) => (None, pattern),
                None => (Some(String::new()), pattern.trim_start_matches('/')),
            };
            let mut folder_above: Vec<String> = root.into_iter().collect();
            let names: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
            for name in names[..names.len() - 1].iter().take_while(|name| !name.contains('*')) {
                folder_above.push(name.to_lowercase());
                folders_above.names.insert(name.to_lowercase());
                folders_above.parts.push(folder_above.clone());
            }
        }
        folders_above
    }

    /// Whether this path, relative to the workspace, is one of these folders.
    fn contains(&self, path: &Path) -> bool {
        let name = |name: &OsStr| name.to_string_lossy().to_lowercase();
        if !path.file_name().is_some_and(|last| self.names.contains(&name(last))) {
            return false;
        }
        let parts: Vec<String> = std::iter::once(String::new()).chain(path.iter().map(name)).collect();
        self.parts.iter().any(|folder_above| parts.ends_with(folder_above))
    }
}

/// Whether this is the folder of a version control system.
fn is_version_control(name: &str) -> bool {
    [".git", ".hg", ".svn"].contains(&name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    fn permissions() -> Permissions {
        let deny = ["read(secrets/)", "write(**/*.lock)", "run_command(rm *)", "read(/etc/keys)"];
        let deny = deny.map(|rule| rule.parse().unwrap()).to_vec();
        let mut permissions = Permissions { deny, ..Permissions::default() };
        permissions.protected.add("conf/**").unwrap();
        permissions.protected.except(".idea/").unwrap();
        permissions
    }

    // proves X3
    #[test]
    fn what_is_forbidden_or_protected_is_closed() {
        let permissions = permissions();
        let closed_paths = ClosedPaths::new(&permissions);
        for (path, want) in [
            ("secrets", PathAccess::Hidden),
            ("secrets/a", PathAccess::Hidden),
            ("a/b.lock", PathAccess::ReadOnly),
            (".vscode", PathAccess::ReadOnly),
            ("deep/.Vscode", PathAccess::ReadOnly),
            ("x.code-workspace", PathAccess::ReadOnly),
            (".github/workflows", PathAccess::ReadOnly),
            (".cargo/config.toml", PathAccess::ReadOnly),
            ("conf/a", PathAccess::ReadOnly),
            (".idea", PathAccess::Open),
            (".github", PathAccess::Open),
            (".git", PathAccess::Open),
            (".git/config", PathAccess::Open),
            ("src/main.rs", PathAccess::Open),
            ("/etc/keys", PathAccess::Hidden),
            ("/etc/.vscode", PathAccess::Open),
        ] {
            let root = Path::new("/w");
            assert_eq!(closed_paths.access_to(&permissions, root, &root.join(path)), want, "{path}");
        }
        let odd = Path::new(OsStr::from_bytes(b"/w/caf\xe9/.vscode"));
        assert_eq!(
            closed_paths.access_to(&permissions, Path::new("/w"), odd),
            PathAccess::ReadOnly,
            "a name that is no text"
        );
        assert!(closed_paths.denies_by_pattern && closed_paths.pattern_folders.contains(&PathBuf::from(".cargo")));
        for (path, want) in [
            (".github", true),
            ("a/.Config", true),
            (".cargo", true),
            ("conf", true),
            ("a/conf", false),
            ("github", false),
            (".github/workflows", false),
            ("secrets", false),
        ] {
            let root = Path::new("/w");
            assert_eq!(
                closed_paths.with_rules(&permissions, root, |rules| (rules.may_lead_to_closed)(&root.join(path))),
                want,
                "{path}"
            );
        }
        for path in ["secrets", ".github/workflows", "AGENTS.md", "conf", "/etc/keys"] {
            assert!(closed_paths.literal_paths.contains(&PathBuf::from(path)), "{path}");
        }
    }

    // proves X3: the guard closes the same paths, except for rules that deny a whole tool
    #[test]
    fn rules_are_the_same_after_they_were_told_in_words() {
        let mut permissions = permissions();
        permissions.deny.push("write_file".parse().unwrap());
        let cleanup = ClosedPaths::cleanup_rules(&permissions, Path::new("/w"));
        assert_eq!(cleanup.denied, ["read(secrets/)", "write(**/*.lock)", "read(/etc/keys)"]);
        let told = ClosedPaths::permissions_of(&cleanup);
        permissions.deny.retain(|rule| cleanup.denied.contains(&rule.to_string()));
        assert_eq!((told.deny, told.protected), (permissions.deny, permissions.protected));
    }

    // proves X3: the lookup by last name skips no pattern of the list
    #[test]
    fn no_protected_path_is_passed_over_for_its_name() {
        let permissions = permissions();
        let closed_paths = ClosedPaths::new(&permissions);
        for pattern in permissions.protected.patterns() {
            let path = pattern.replace("**/", "a/").replace('*', "x");
            assert!(closed_paths.protected.may_mean(path.trim_end_matches('/')), "{pattern}");
        }
    }
}
