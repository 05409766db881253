//! Everything a call does to files, and which rules are about it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::Rule;
use crate::access::{AccessKind, FileAccess};
use crate::other_names::OtherNames;

/// Everything a call does to files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileAccesses {
    pub(crate) accesses: Vec<FileAccess>,
    /// Where the workspace is, by all its names.
    pub(crate) roots: Vec<PathBuf>,
    /// What leads elsewhere in it.
    pub(crate) other_names: Arc<OtherNames>,
}

impl FileAccesses {
    /// Whether a rule that forbids or asks is about some of it.
    pub(crate) fn touched_by(&self, rule: &Rule) -> bool {
        self.accesses.iter().any(|access| rule.forbids(access, &self.roots))
    }

    /// The same, leaving out what a person has already agreed to by these rules.
    pub(crate) fn touched_beyond(&self, rule: &Rule, grants: &[&Rule]) -> bool {
        let is_open = |access: &&FileAccess| !grants.iter().any(|grant| grant.allows(access, &self.roots));
        self.accesses.iter().filter(is_open).any(|access| rule.forbids(access, &self.roots))
    }

    /// The rules that allow all of it together; nothing where some of it is not allowed. What a call reads that
    /// writes is allowed by every mode, so its rules are about what it writes.
    pub(crate) fn covering<'r>(&self, rules: &[&'r Rule]) -> Option<Vec<&'r Rule>> {
        let writes = self.accesses.iter().any(|access| access.access == AccessKind::Write);
        let mut covering: Vec<&Rule> = Vec::new();
        for access in self.accesses.iter().filter(|access| !writes || access.access == AccessKind::Write) {
            let rule = rules.iter().copied().find(|rule| rule.allows(access, &self.roots))?;
            if !covering.contains(&rule) {
                covering.push(rule);
            }
        }
        (!covering.is_empty()).then_some(covering)
    }
}
