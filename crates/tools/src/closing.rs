//! Which paths rules close to commands: what they forbid to file tools, and what is protected from those (X3).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use windlass_sandbox::Closed;

use crate::path_pattern::PathPattern;
use crate::{Access, Permissions};

/// What permissions say about paths, made ready for thousands of questions.
#[derive(Debug)]
pub(crate) struct Closing {
    /// The paths that are spelled out.
    pub(crate) spelled_out: Vec<PathBuf>,
    /// Whether files are forbidden by patterns that spell out no path.
    pub(crate) denies_by_pattern: bool,
    denies_files: bool,
    protected: LastNames,
}

impl Closing {
    pub(crate) fn new(permissions: &Permissions) -> Self {
        let denied: Vec<Option<String>> = permissions
            .deny
            .iter()
            .filter_map(|rule| rule.forbidden_files())
            .map(|pattern| pattern.and_then(PathPattern::spelled_out))
            .collect();
        let protected = permissions.protected.patterns().filter_map(|text| PathPattern::new(text).ok()?.spelled_out());
        Self {
            denies_by_pattern: denied.iter().any(Option::is_none),
            denies_files: !denied.is_empty(),
            protected: LastNames::of(permissions.protected.patterns()),
            spelled_out: protected.chain(denied.into_iter().flatten()).map(PathBuf::from).collect(),
        }
    }

    /// What `permissions`, which this was made from, say about `path` for a workspace at `root`.
    pub(crate) fn closed(&self, permissions: &Permissions, root: &Path, path: &Path) -> Closed {
        let inside = path.strip_prefix(root).ok();
        let Some(text) = inside.unwrap_or(path).to_str() else { return Closed::No };
        let is_protected = || {
            inside.is_some()
                && self.protected.may_mean(text)
                // Of a repository only a part is closed (`windlass_sandbox`): commits are written there.
                && !text.split('/').any(is_version_control)
                && permissions.protected.protecting(text).is_some()
        };
        let roots = [root.to_owned()];
        let forbids = |access| self.denies_files && permissions.denying_access(access, text, &roots).is_some();
        match (forbids(Access::Read), forbids(Access::Write) || is_protected()) {
            (true, _) => Closed::ToReading,
            (false, true) => Closed::ToWriting,
            (false, false) => Closed::No,
        }
    }
}

/// The last names of the paths that patterns mean. A look through a workspace comes to a folder before what is in it,
/// so a path with another last name is meant by none of them; asking each of two hundred would take longer than
/// starting the command.
#[derive(Debug, Default)]
struct LastNames {
    whole: HashSet<String>,
    /// How others begin and end.
    ends: Vec<(String, String)>,
}

impl LastNames {
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

/// A folder that version control keeps its own files in.
fn is_version_control(name: &str) -> bool {
    [".git", ".hg", ".svn"].contains(&name)
}

#[cfg(test)]
mod tests {
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
        let closing = Closing::new(&permissions);
        for (path, want) in [
            ("secrets", Closed::ToReading),
            ("secrets/a", Closed::ToReading),
            ("a/b.lock", Closed::ToWriting),
            (".vscode", Closed::ToWriting),
            ("deep/.Vscode", Closed::ToWriting),
            ("x.code-workspace", Closed::ToWriting),
            (".github/workflows", Closed::ToWriting),
            (".cargo/config.toml", Closed::ToWriting),
            ("conf/a", Closed::ToWriting),
            (".idea", Closed::No),
            (".github", Closed::No),
            (".git", Closed::No),
            (".git/config", Closed::No),
            ("src/main.rs", Closed::No),
            ("/etc/keys", Closed::ToReading),
            ("/etc/.vscode", Closed::No),
        ] {
            let root = Path::new("/w");
            assert_eq!(closing.closed(&permissions, root, &root.join(path)), want, "{path}");
        }
        assert!(closing.denies_by_pattern);
        for path in ["secrets", ".github/workflows", "AGENTS.md", "conf", "/etc/keys"] {
            assert!(closing.spelled_out.contains(&PathBuf::from(path)), "{path}");
        }
    }

    // proves X3: every pattern of the list is asked about where it may mean something
    #[test]
    fn no_protected_path_is_passed_over_for_its_name() {
        let permissions = permissions();
        let closing = Closing::new(&permissions);
        for pattern in permissions.protected.patterns() {
            let path = pattern.replace("**/", "a/").replace('*', "x");
            assert!(closing.protected.may_mean(path.trim_end_matches('/')), "{pattern}");
        }
    }
}
