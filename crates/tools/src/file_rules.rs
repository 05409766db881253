//! The rules that every way to a file of the workspace goes through, so that no tool can forget them (X5).
//!
//! A call as a whole is judged before it runs. This is for what is only known as it runs: where a path leads by
//! then, and which files a search or a listing comes upon.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{AccessKind, FileAccess};
use crate::file_accesses::FileAccesses;
use crate::other_names::OtherNames;
use crate::path_pattern::PathExtent;
use crate::{About, Mode, Permissions, Rule};

/// What of the workspace must not be read or changed.
#[derive(Clone, Debug, Default)]
pub struct FileRules {
    permissions: Option<Arc<Permissions>>,
    checked: CheckedPaths,
}

/// The paths a call was cleared for, by all the names they had then. It opens no other, though a link may lead there by
/// the time it runs. Nothing where the call names no paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedPaths(Option<Arc<FileAccesses>>);

impl CheckedPaths {
    pub(crate) fn of(about: About) -> Self {
        Self(about.files.map(Arc::new))
    }
}

impl FileRules {
    /// What these permissions forbid, whoever agreed to the call.
    #[must_use]
    pub fn of(permissions: Arc<Permissions>) -> Self {
        Self { permissions: Some(permissions), checked: CheckedPaths::default() }
    }

    /// The same for a call that was cleared for these paths.
    #[must_use]
    pub fn for_call(self, checked: CheckedPaths) -> Self {
        Self { checked, ..self }
    }

    /// The same for what is looked at besides what the call names.
    pub(crate) fn beyond_the_call(&self) -> Self {
        self.clone().for_call(CheckedPaths::default())
    }

    /// Whether the call was cleared for all of this.
    pub(crate) fn have_checked(&self, files: &FileAccesses) -> bool {
        let Some(checked) = &self.checked.0 else { return true };
        files.accesses.iter().all(|access| checked.accesses.iter().any(|checked| checked.is_same(access)))
    }

    /// Nothing is forbidden: it is the person who is shown the file.
    #[must_use]
    pub fn for_people() -> Self {
        Self::default()
    }

    /// Whether nothing is forbidden.
    pub(crate) fn is_empty(&self) -> bool {
        self.permissions.as_ref().is_none_or(|permissions| permissions.deny.is_empty())
    }

    /// The rule that forbids some of this.
    pub(crate) fn denying(&self, files: &FileAccesses) -> Option<&Rule> {
        self.permissions.as_ref()?.deny.iter().find(|rule| files.touched_by(rule))
    }

    /// What is left out for whoever walks through folders from `start` on: what must not be read, and what is
    /// asked about first, unless that was asked about with `start` itself.
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

/// What is left out on the way.
#[derive(Debug)]
pub(crate) struct HiddenFiles<'r> {
    rules: Vec<&'r Rule>,
    roots: Vec<PathBuf>,
    other_names: Arc<OtherNames>,
}

impl HiddenFiles<'_> {
    /// The same for names that are texts.
    pub(crate) fn has_any(&self, names: &[String]) -> bool {
        self.has(&names.iter().map(Path::new).collect::<Vec<_>>())
    }

    /// Whether what is at this path, by any of its names, must not be shown.
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

/// How many things were left out, for the model.
pub(crate) fn left_out_note(count: usize) -> Option<String> {
    let what = if count == 1 { "entry" } else { "entries" };
    let count = crate::cut::thousands(count);
    (count != "0").then(|| format!("{count} {what} not shown: a rule forbids reading them, or asks first"))
}
