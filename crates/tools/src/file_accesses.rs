//! All accesses of a call to files, and which rules apply to them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::Rule;
use crate::access::{AccessKind, FileAccess};
use crate::other_names::OtherNames;

/// All accesses of a call to files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileAccesses {
    pub(crate) accesses: Vec<FileAccess>,
    /// The paths of the workspace, by all its names.
    pub(crate) roots: Vec<PathBuf>,
    /// The other names of files in the workspace, by target.
    pub(crate) other_names: Arc<OtherNames>,
}

impl FileAccesses {
    /// Whether a rule that forbids or asks applies to one of the accesses.
    pub(crate) fn touched_by(&self, rule: &Rule) -> bool {
        self.accesses.iter().any(|access| rule.forbids(access, &self.roots))
    }

    /// The same, without the accesses that a person has already approved by these rules.
    pub(crate) fn touched_beyond(&self, rule: &Rule, grants: &[&Rule]) -> bool {
        let is_open = |access: &&FileAccess| !grants.iter().any(|grant| grant.allows(access, &self.roots));
        self.accesses.iter().filter(is_open).any(|access| rule.forbids(access, &self.roots))
    }

    /// Returns the rules that together allow all accesses; `None` if one is not allowed. For a call that writes, the
    /// rules need to cover only its writes, because every mode allows what it reads.
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
