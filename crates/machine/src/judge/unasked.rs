//! Changes that the request did not ask for: which need a person, and which of a script's are undone.

use std::collections::BTreeSet;

use windlass_vocab::{Change, Changes, FileState, UnaskedChange, UnaskedChanges};

use super::request::{RequestKind, read_request};
use crate::control::Run;

/// What a script changed though the request did not ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptOverreach {
    /// These files are lost.
    Lost(Vec<String>),
    /// This file is not named, though others are that the script changed.
    NotNamed(String),
}

impl Run {
    /// Returns what a script changed though the request did not ask for it; `None` where the policy does not ask.
    #[must_use]
    pub fn unasked_by_script(&self, changes: &Changes) -> Option<ScriptOverreach> {
        if self.policy().unasked_changes == UnaskedChanges::Allow {
            return None;
        }
        let lost = self.lost_by_script(changes);
        if !lost.is_empty() {
            return Some(ScriptOverreach::Lost(lost));
        }
        let text = &self.evidence.request.text;
        let names_one = changes.keys().any(|path| is_named(text, path));
        let others = changes.iter().filter(|(_, change)| change.was.exists() && !change.was.is_folder());
        let path = self.unnamed_change(others.map(|(path, _)| path.as_str())).filter(|_| names_one);
        path.or_else(|| self.changed_otherwise(changes)).map(ScriptOverreach::NotNamed)
    }

    /// Returns a file that the request does not name and that a script changed in another way than asked for: its text, where
    /// files are only to be moved or deleted, or its place, where they are only to be deleted.
    fn changed_otherwise(&self, changes: &Changes) -> Option<String> {
        let text = &self.evidence.request.text;
        let request = read_request(text, &self.evidence.files);
        let is_otherwise = |change: &Change| match (change.was.blob(), change.now.blob()) {
            (Some(was), Some(now)) => was != now,
            (Some(_), None) => !request.may_move,
            (None, _) => false,
        };
        let mut paths = changes.iter().filter(|(_, change)| is_otherwise(change)).map(|(path, _)| path);
        paths.find(|path| request.only_relocates && !is_named(text, path)).cloned()
    }

    /// Returns the files that a script lost unasked: they are gone, and so is their content. Where files may be moved, as many
    /// new ones may be what became of them.
    fn lost_by_script(&self, changes: &Changes) -> Vec<String> {
        let kept =
            |was: &FileState| changes.values().any(|change| was.blob().is_some() && was.blob() == change.now.blob());
        let is_gone = |change: &Change| change.was.exists() && !change.was.is_folder() && !change.now.exists();
        let gone = changes.iter().filter(|(_, change)| is_gone(change) && !kept(&change.was));
        let gone: Vec<&String> = gone.map(|(path, _)| path).collect();
        let had = |now: &FileState| changes.values().any(|change| now.blob() == change.was.blob());
        let is_new = |change: &&Change| !change.was.exists() && change.now.blob().is_some() && !had(&change.now);
        let made = changes.values().filter(is_new).count();
        let text = &self.evidence.request.text;
        let request = read_request(text, &self.evidence.files);
        if request.may_move && gone.len() <= made {
            return Vec::new();
        }
        gone.into_iter().filter(|path| !request.may_delete || !is_named(text, path)).cloned().collect()
    }

    /// Returns why a call that changes these files, and loses the content of those, needs a person: the request did not
    /// ask for it, or the run was not allowed to delete one of them: a model that hears "no" empties the file instead.
    /// `None` where it did, or where the policy does not ask.
    #[must_use]
    pub fn unasked_change(&self, changes: &[String], loses: &[String]) -> Option<UnaskedChange> {
        if self.policy().unasked_changes == UnaskedChanges::Allow || (changes.is_empty() && loses.is_empty()) {
            return None;
        }
        if let Some(path) = changes.iter().chain(loses).find(|path| self.evidence.was_not_to_be_deleted(path)) {
            return Some(UnaskedChange::AfterDeniedDelete { path: path.clone() });
        }
        let request = &self.evidence.request.text;
        if read_request(request, &self.evidence.files).kind == RequestKind::Question {
            return Some(UnaskedChange::InAnswer {});
        }
        let unnamed = loses.iter().find(|path| !is_named(request, path.trim_start_matches("./")));
        if let Some(path) = unnamed {
            return Some(UnaskedChange::Deletes { path: path.clone() });
        }
        let names_one = self.evidence.changes().paths().any(|path| is_named(request, path));
        let paths = changes.iter().map(|path| path.trim_start_matches("./"));
        let path = self.unnamed_change(paths).filter(|_| names_one)?;
        Some(UnaskedChange::NotNamed { path })
    }

    /// Returns the first of these files that exists and that the request does not name. It counts where one that it names is
    /// changed as well: a model that does not know when it is done goes on with the next file.
    fn unnamed_change<'p>(&self, mut changes: impl Iterator<Item = &'p str>) -> Option<String> {
        let evidence = &self.evidence;
        let text = &evidence.request.text;
        let request = read_request(text, &evidence.files);
        if request.kind != RequestKind::Change || request.is_about_all {
            return None;
        }
        let made = evidence.changes().created;
        let existed = |path: &str| evidence.files.contains(path) && !made.iter().any(|made| made == path);
        changes.find(|path| existed(path) && !is_named(text, path)).map(str::to_owned)
    }
}

/// Whether a request names this file, by its path, its name or a pattern.
fn is_named(request: &str, path: &str) -> bool {
    !read_request(request, &BTreeSet::from([path.to_owned()])).existing.is_empty()
}
