//! Changes that the request did not ask for: which need a person, and which files are restored after a script.

use std::collections::BTreeSet;

use windlass_vocab::{Change, Changes, FileState, UnaskedChange, UnaskedChanges};

use super::evidence::{RequestWords, is_by_product};
use super::named_files::{existing_files, is_kept_out, names_folder_of};
use super::request::{RequestKind, read_request};
use super::vague_order::is_vague_order;
use crate::control::Run;
use crate::file_names::names_file;

impl Run {
    /// Returns the files that a script changed though the request did not ask for it, and that are restored: those it lost,
    /// those that are to be left alone, and those that the request does not name, where it also changed one that it names;
    /// where the request speaks of several files, only those that the script names. Later requests go on with what was said
    /// before.
    #[must_use]
    pub fn unasked_by_script(&self, script: &str, changes: &Changes) -> Vec<String> {
        if self.policy().unasked_changes == UnaskedChanges::Allow || !self.is_first_request() {
            return Vec::new();
        }
        let text = &self.evidence.request.text;
        let is_edited = |change: &Change| change.was.blob().is_some() && change.now.blob().is_some();
        let speaks_of_several = read_request(text, &self.evidence.files).is_about_several;
        let is_chosen = |path: &str| !speaks_of_several || names_file(script, path);
        let edited = changes.iter().filter(|(path, change)| is_edited(change) && is_chosen(path));
        let edited = edited.map(|(path, _)| path.as_str());
        let is_on_it = changes.keys().any(|path| is_named(text, path));
        let mut edited = if is_on_it { self.unnamed_changes(edited) } else { Vec::new() };
        let was_there = changes.iter().filter(|(_, change)| is_edited(change)).map(|(path, _)| path);
        let kept_out: Vec<String> = was_there.filter(|path| is_kept_out(text, path)).cloned().collect();
        edited.extend(kept_out.into_iter().filter(|path| !edited.contains(path)).collect::<Vec<_>>());
        [self.lost_by_script(changes, &edited), edited].concat()
    }

    /// Returns the files that a script lost unasked: they are gone, and so is their content, which may be in a file that is
    /// `restored`. Where files may be moved or converted, as many new ones may be what became of them. What the run made
    /// itself it may delete.
    fn lost_by_script(&self, changes: &Changes, restored: &[String]) -> Vec<String> {
        let is_kept = |was: &FileState| {
            let has_it = |now: &FileState| was.is_same_thing(now) || (was.blob().is_some() && was.blob() == now.blob());
            changes.iter().any(|(path, change)| has_it(&change.now) && !restored.contains(path))
        };
        let is_gone = |change: &Change| change.was.exists() && !change.was.is_folder() && !change.now.exists();
        let made = self.evidence.changes().created;
        let is_own = |path: &String| is_by_product(path) || made.contains(path);
        let gone = changes.iter().filter(|(path, change)| is_gone(change) && !is_kept(&change.was) && !is_own(path));
        let gone: Vec<&String> = gone.map(|(path, _)| path).collect();
        let had =
            |now: &FileState| changes.values().any(|change| now.blob().is_some() && now.blob() == change.was.blob());
        let is_new = |change: &&Change| {
            !change.was.exists() && change.now.exists() && !change.now.is_folder() && !had(&change.now)
        };
        let new = changes.values().filter(is_new).count();
        let text = &self.evidence.request.text;
        let request = read_request(text, &self.evidence.files);
        // A file that is only moved keeps its content.
        if request.may_replace_files && !request.only_moves_or_deletes && gone.len() <= new {
            return Vec::new();
        }
        let is_asked = |path: &str| request.may_delete && (is_named(text, path) || names_folder_of(text, path));
        gone.into_iter().filter(|path| !is_asked(path)).cloned().collect()
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
        if self.is_unclear_order() {
            return Some(UnaskedChange::Unclear {});
        }
        let mut existing = changes.iter().filter(|path| self.evidence.files.contains(path.trim_start_matches("./")));
        if let Some(path) =
            existing.find(|path| self.is_first_request() && is_kept_out(request, path.trim_start_matches("./")))
        {
            return Some(UnaskedChange::NotNamed { path: path.clone() });
        }
        let unnamed = loses.iter().find(|path| !is_named(request, path.trim_start_matches("./")));
        if let Some(path) = unnamed {
            return Some(UnaskedChange::Deletes { path: path.clone() });
        }
        let done = self.evidence.changes();
        let paths = changes.iter().map(|path| path.trim_start_matches("./"));
        let mut unnamed =
            if done.paths().any(|path| is_named(request, path)) { self.unnamed_changes(paths) } else { vec![] };
        unnamed.pop().map(|path| UnaskedChange::NotNamed { path })
    }

    /// Whether the request does not say exactly what to change, and the policy asks before that is done.
    pub(crate) fn is_unclear_order(&self) -> bool {
        let asks = self.policy().unasked_changes == UnaskedChanges::Ask;
        let RequestWords { names_nothing, text, .. } = &self.evidence.request;
        let is_unclear = || *names_nothing || is_vague_order(text, self.evidence.files.len());
        asks && self.is_first_request() && is_unclear()
    }

    /// Returns those of these files that exist and that the request does not name. They count where one that it names is
    /// changed as well: a model that does not know when it is done goes on with the next file.
    fn unnamed_changes<'p>(&self, changes: impl Iterator<Item = &'p str>) -> Vec<String> {
        let evidence = &self.evidence;
        let text = &evidence.request.text;
        let request = read_request(text, &evidence.files);
        if request.kind != RequestKind::Change || request.is_about_unnamed {
            return Vec::new();
        }
        let made = evidence.changes().created;
        let existed = |path: &str| evidence.files.contains(path) && !made.iter().any(|made| made == path);
        changes.filter(|path| existed(path) && !is_mentioned(text, path)).map(str::to_owned).collect()
    }
}

/// Whether a request mentions this file in any way: by its path or name, by a pattern, or by a folder that it is in.
fn is_mentioned(request: &str, path: &str) -> bool {
    let folders = path.split('/').rev().skip(1);
    is_named(request, path)
        || names_file(request, path)
        || folders.into_iter().any(|folder| names_file(request, folder))
}

/// Whether a request names this file, by its path, its name or a pattern.
fn is_named(request: &str, path: &str) -> bool {
    !existing_files(request, &BTreeSet::from([path.to_owned()])).is_empty()
}
