//! The rules that every access to a file of the workspace goes through, so that no tool can forget them (X5).
//!
//! A call as a whole is checked before it runs. These rules are for facts known only while it runs: where a path
//! leads by then, and which files a search or a listing comes upon.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{AccessKind, FileAccess};
use crate::file_accesses::FileAccesses;
use crate::other_names::OtherNames;
use crate::path_pattern::PathExtent;
use crate::{About, Mode, Permissions, Rule};

/// Rules that say which files of the workspace must not be read or changed.
#[derive(Clone, Debug, Default)]
pub struct FileRules {
    permissions: Option<Arc<Permissions>>,
    checked: CheckedPaths,
}

/// The paths that were permitted for a call, by all the names they had at the time of the check. The call opens no
/// other path, even if a symlink leads there by the time it runs. `None` if the call names no paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedPaths(Option<Arc<FileAccesses>>);

impl CheckedPaths {
    pub(crate) fn of(about: About) -> Self {
        Self(about.files.map(Arc::new))
    }
}

impl FileRules {
    /// Rules that forbid what these permissions deny, even for a call that a person approved.
    #[must_use]
    pub fn of(permissions: Arc<Permissions>) -> Self {
        Self { permissions: Some(permissions), checked: CheckedPaths::default() }
    }

    /// The same rules for a call that was permitted for these paths.
    #[must_use]
    pub fn for_call(self, checked: CheckedPaths) -> Self {
        Self { checked, ..self }
    }

    /// The same rules for files that the call reads but does not name.
    pub(crate) fn beyond_the_call(&self) -> Self {
        self.clone().for_call(CheckedPaths::default())
    }

    /// Whether the call was permitted for all these accesses.
    pub(crate) fn have_checked(&self, files: &FileAccesses) -> bool {
        let Some(checked) = &self.checked.0 else { return true };
        files.accesses.iter().all(|access| checked.accesses.iter().any(|checked| checked.is_same(access)))
    }

    /// Rules that forbid nothing, because the person and not the model sees the file.
    #[must_use]
    pub fn for_people() -> Self {
        Self::default()
    }

    /// Whether nothing is forbidden.
    pub(crate) fn is_empty(&self) -> bool {
        self.permissions.as_ref().is_none_or(|permissions| permissions.deny.is_empty())
    }

    /// Returns the rule that forbids one of these accesses.
    pub(crate) fn denying(&self, files: &FileAccesses) -> Option<&Rule> {
        self.permissions.as_ref()?.deny.iter().find(|rule| files.touched_by(rule))
    }

    /// Returns the filter for a walk through folders from `start` on. It hides files that must not be read, and files
    /// that are asked about first, unless the person was asked about `start` itself.
    pub(crate) fn hidden_files(&self, start: &FileAccesses) -> HiddenFiles<'_> {
        let mut rules = Vec::new();
        if let Some(permissions) = &self.permissions {
            rules.extend(&permissions.deny);
            if permissions.mode != Mode::Bypass {
                rules.extend(permissions.ask.iter().filter(|rule| !start.touched_by(rule)));
            }
        }
        HiddenFiles { rules, roots: start.roots.clone(), other_names: Arc::clone(&start.other_names) }
    }
}

/// Files to leave out of a walk.
#[derive(Debug)]
pub(crate) struct HiddenFiles<'r> {
    rules: Vec<&'r Rule>,
    roots: Vec<PathBuf>,
    other_names: Arc<OtherNames>,
}

impl HiddenFiles<'_> {
    /// The same for names given as text.
    pub(crate) fn has_any(&self, names: &[String]) -> bool {
        self.has(&names.iter().map(Path::new).collect::<Vec<_>>())
    }

    /// Whether the file with these names must be left out.
    pub(crate) fn has(&self, names: &[&Path]) -> bool {
        let is_forbidden = |access: &FileAccess| self.rules.iter().any(|rule| rule.forbids(access, &self.roots));
        let is_left_out = |path: &&Path| {
            let path = path.to_string_lossy();
            let access = FileAccess::new(AccessKind::Read, path.as_ref(), PathExtent::Itself);
            let others = self.other_names.of(&path);
            is_forbidden(&access) || others.iter().any(|name| is_forbidden(&access.by_other_name(name)))
        };
        !self.rules.is_empty() && names.iter().any(is_left_out)
    }
}

/// Returns a note for the model that says how many entries were left out.
pub(crate) fn left_out_note(count: usize) -> Option<String> {
    let what = if count == 1 { "entry" } else { "entries" };
    let count = crate::cut::thousands(count);
    (count != "0").then(|| format!("{count} {what} not shown: a rule forbids reading them, or asks first"))
}
