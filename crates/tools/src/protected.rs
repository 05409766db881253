//! Protected paths (X5): files that are run automatically, files that instruct agents, our own files. A call that
//! changes one needs approval in every mode but bypass, whatever rule allows it; only a person's own answer lets it
//! run.
//!
//! The list is data (`protected.txt`). A person can add to it and make exceptions.

use std::path::PathBuf;

use crate::PathFault;
use crate::about::About;
use crate::access::{AccessKind, FileAccess};
use crate::path_pattern::{self, PathExtent};
use crate::protected_list::{BUILT_IN, NamedPattern};
use crate::rule::Rule;

/// Which paths are protected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    added: Vec<NamedPattern>,
    exceptions: Vec<NamedPattern>,
}

/// A protected path that a call would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProtectedPath {
    /// The path as a pattern that matches nothing else.
    pub(crate) path: String,
    /// The pattern that protects it, or why it is protected without one.
    pub(crate) pattern: String,
}

impl Protected {
    /// Also protects paths that match this pattern, which is written as in `write(…)`.
    pub fn add(&mut self, pattern: &str) -> Result<(), PathFault> {
        self.added.push(NamedPattern::new(pattern)?);
        Ok(())
    }

    /// Exempts paths that match this pattern, even if another pattern protects them.
    pub fn except(&mut self, pattern: &str) -> Result<(), PathFault> {
        self.exceptions.push(NamedPattern::new(pattern)?);
        Ok(())
    }

    /// Returns the patterns that protect, as written.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.all().map(|named| named.text.as_str())
    }

    /// Returns the patterns that a person has added, as written.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        self.added.iter().map(|named| named.text.as_str())
    }

    /// Returns the patterns of paths that are not protected although one of [`Protected::patterns`] matches them.
    pub fn exceptions(&self) -> impl Iterator<Item = &str> {
        self.exceptions.iter().map(|named| named.text.as_str())
    }

    /// Returns the pattern that protects this path, relative to the workspace.
    #[must_use]
    pub fn protecting(&self, path: &str) -> Option<&str> {
        self.find(&FileAccess::new(AccessKind::Write, path, PathExtent::Itself), &[])
    }

    /// Returns a protected path that the call changes and that no grant names exactly.
    pub(crate) fn changed_by(&self, about: &About, grants: &[&Rule]) -> Option<ProtectedPath> {
        let files = about.files.as_ref()?;
        let is_granted = |path: &str| grants.iter().any(|grant| grant.is_exactly_for(path));
        if is_granted(&about.whole) {
            return None;
        }
        let writes = files.accesses.iter().filter(|access| access.access == AccessKind::Write);
        let mut open = writes.filter(|access| !is_granted(access.path.as_str()));
        open.find_map(|access| {
            let pattern = self.find(access, &files.roots).map(|pattern| match &access.because {
                Some(because) => format!("{pattern}; {because}"),
                None => pattern.to_owned(),
            });
            let pattern = pattern.or_else(|| self.repository(access, &files.roots))?;
            Some(ProtectedPath { path: path_pattern::escape(access.path.as_str()), pattern })
        })
    }

    fn find(&self, access: &FileAccess, roots: &[PathBuf]) -> Option<&str> {
        let found = self.all().find(|named| access.is_meant_by(&named.pattern, roots))?;
        (!self.is_exception(access, roots)).then_some(found.text.as_str())
    }

    /// Returns a reason in place of a pattern, if the access makes a git repository or changes what git obeys there.
    fn repository(&self, access: &FileAccess, roots: &[PathBuf]) -> Option<String> {
        let folder = access.repository.as_ref().filter(|_| !self.is_exception(access, roots))?;
        let folder = match folder.to_string_lossy() {
            name if name.is_empty() => "the workspace".into(),
            name => name,
        };
        Some(format!("git: it would take {folder} for a repository, and obey its config and hooks"))
    }

    fn is_exception(&self, access: &FileAccess, roots: &[PathBuf]) -> bool {
        self.exceptions.iter().any(|named| access.is_inside(&named.pattern, roots))
    }

    fn all(&self) -> impl Iterator<Item = &NamedPattern> {
        self.added.iter().chain(BUILT_IN.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X5
    #[test]
    fn what_runs_by_itself_is_protected_at_any_depth_and_in_any_case() {
        let protected = Protected::default();
        for path in [
            ".git",
            ".git/config",
            ".git/hooks/pre-commit",
            "sub/.git/hooks/pre-commit",
            ".Git/config",
            ".hg/hgrc",
            ".envrc",
            "a/b/.envrc",
            ".vscode/tasks.json",
            ".idea/workspace.xml",
            ".husky/pre-commit",
            ".devcontainer/devcontainer.json",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".cargo/config.toml",
            ".cargo/config",
            ".npmrc",
            ".ssh/authorized_keys",
            ".bashrc",
            ".zshenv",
            ".profile",
            ".config/fish/config.fish",
            "AGENTS.md",
            "pkg/agents.md",
            "CLAUDE.md",
            "GEMINI.md",
            "skills/x/SKILL.md",
            ".claude/settings.json",
            "windlass.toml",
            ".mcp.json",
        ] {
            assert!(protected.protecting(path).is_some(), "{path}");
        }
    }

    // proves X5: ordinary work is not hindered
    #[test]
    fn ordinary_files_are_not_protected() {
        let protected = Protected::default();
        for path in [
            "Makefile",
            "package.json",
            "Cargo.toml",
            "build.rs",
            "src/main.rs",
            "README.md",
            ".gitignore",
            ".gitattributes",
            ".env",
            ".editorconfig",
            ".github/ISSUE_TEMPLATE/bug.md",
            "conftest.py",
            "setup.py",
            "docs/git/config",
            "my.git/x",
            "src/agents.md.rs",
            "Dockerfile",
            "config.toml",
            ".",
        ] {
            assert_eq!(protected.protecting(path), None, "{path}");
        }
    }

    // proves X5
    #[test]
    fn a_person_adds_patterns_and_makes_exceptions() {
        let mut protected = Protected::default();
        protected.add("deploy/").unwrap();
        protected.except(".github/workflows/docs.yml").unwrap();
        protected.except("docs/**/AGENTS.md").unwrap();
        assert_eq!(protected.protecting("deploy/run.sh"), Some("deploy/"));
        assert_eq!(protected.protecting(".github/workflows/docs.yml"), None);
        assert_eq!(protected.protecting(".github/workflows/ci.yml"), Some("**/.github/workflows/"));
        assert_eq!(protected.protecting("docs/a/AGENTS.md"), None);
        assert_eq!(protected.protecting("AGENTS.md"), Some("**/AGENTS.md"));
        assert!(protected.add("~/x").is_err() && protected.except("a?").is_err());
        assert!(protected.patterns().any(|pattern| pattern == "deploy/"));
        assert_eq!(protected.exceptions().count(), 2);
    }
}
