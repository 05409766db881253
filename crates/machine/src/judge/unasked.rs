//! Changes that the request did not ask for: which need a person, and which files are restored after a script.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{Change, Changes, FileState, UnaskedChange, UnaskedChanges};

use super::evidence::{RequestWords, is_by_product};
use super::language::plain;
use super::named_files::{existing_files, has_pattern, has_word_of_path, is_kept_out, names_folder_of};
use super::request::{RequestKind, RequestReading, read_request};
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
        // A link or a folder in place of a file changes it, too.
        let is_edited = |change: &Change| change.was.exists() && !change.was.is_folder() && is_there(&change.now);
        let request = read_request(text, &self.evidence.files);
        let is_chosen = |path: &str| !request.is_about_several || names_file(script, path);
        let edited = changes.iter().filter(|(path, change)| is_edited(change) && is_chosen(path));
        let edited = edited.map(|(path, _)| path.as_str());
        let is_on_it = changes.keys().any(|path| is_named(text, path));
        let mut edited =
            if is_on_it || request.says_where() { self.unnamed_changes(&request, edited) } else { Vec::new() };
        let was_there = changes.iter().filter(|(_, change)| is_edited(change)).map(|(path, _)| path);
        let kept_out: Vec<String> = was_there.filter(|path| is_kept_out(text, path)).cloned().collect();
        edited.extend(kept_out.into_iter().filter(|path| !edited.contains(path)).collect::<Vec<_>>());
        [self.lost_by_script(&request, changes, &edited), edited].concat()
    }

    /// Returns the files that a script lost unasked: they are gone, and so is their content, which may be in a file that is
    /// `restored`. Where files may be moved or converted, as many new ones may be what became of them. What the run made
    /// itself it may delete.
    fn lost_by_script(&self, request: &RequestReading, changes: &Changes, restored: &[String]) -> Vec<String> {
        let now = || changes.iter().filter(|(path, _)| !restored.contains(path)).map(|(_, change)| &change.now);
        let blobs: BTreeSet<_> = now().filter_map(FileState::blob).collect();
        let inodes: BTreeMap<_, _> = now().filter_map(|now| Some((now.inode()?, now))).collect();
        let is_kept = |was: &FileState| {
            let moved = was.inode().and_then(|inode| inodes.get(&inode));
            was.blob().is_some_and(|blob| blobs.contains(&blob)) || moved.is_some_and(|now| was.is_same_thing(now))
        };
        let is_gone = |change: &Change| change.was.exists() && !change.was.is_folder() && !is_there(&change.now);
        let made = self.evidence.changes().created;
        let is_own = |path: &String| is_by_product(path) || made.contains(path);
        let gone = changes.iter().filter(|(path, change)| is_gone(change) && !is_kept(&change.was) && !is_own(path));
        let gone: Vec<&String> = gone.map(|(path, _)| path).collect();
        let blobs_before: BTreeSet<_> = changes.values().filter_map(|change| change.was.blob()).collect();
        let had = |now: &FileState| now.blob().is_some_and(|blob| blobs_before.contains(&blob));
        let is_new = |change: &&Change| {
            !change.was.exists() && change.now.exists() && !change.now.is_folder() && !had(&change.now)
        };
        let new = changes.values().filter(is_new).count();
        let text = &self.evidence.request.text;
        // A file that is only moved keeps its content.
        if request.may_replace_files && !request.only_moves_or_deletes && gone.len() <= new {
            return Vec::new();
        }
        gone.into_iter().filter(|path| !may_be_deleted(text, request, path)).cloned().collect()
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
        let reading = read_request(request, &self.evidence.files);
        if reading.kind == RequestKind::Question {
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
        let is_asked = |path: &str| is_named(request, path) || may_be_deleted(request, &reading, path);
        let unnamed = loses.iter().find(|path| !is_asked(path.trim_start_matches("./")));
        if let Some(path) = unnamed {
            return Some(UnaskedChange::Deletes { path: path.clone() });
        }
        let done = self.evidence.changes();
        let paths = changes.iter().map(|path| path.trim_start_matches("./"));
        let is_on_it = done.paths().any(|path| is_named(request, path)) || reading.says_where();
        let mut unnamed = if is_on_it { self.unnamed_changes(&reading, paths) } else { vec![] };
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
    fn unnamed_changes<'p>(&self, request: &RequestReading, changes: impl Iterator<Item = &'p str>) -> Vec<String> {
        let evidence = &self.evidence;
        let text = &evidence.request.text;
        if !evidence.asks_for_change(request) || request.is_about_unnamed {
            return Vec::new();
        }
        let made = evidence.changes().created;
        let existed = |path: &str| evidence.files.contains(path) && !made.iter().any(|made| made == path);
        changes.filter(|path| existed(path) && !is_mentioned(text, path)).map(str::to_owned).collect()
    }
}

/// Whether something can be reached at its path: a file below a folder that a link replaced can not.
fn is_there(state: &FileState) -> bool {
    state.exists() && *state != FileState::OUT_OF_REACH
}

/// Whether a request asks for this file to be deleted: by its name, its folder, or as one of all that are there.
fn may_be_deleted(text: &str, request: &RequestReading, path: &str) -> bool {
    let is_one_of_all = || request.deletes_unnamed && !has_pattern(text) && !is_kept_out(text, path);
    request.may_delete && (is_named(text, path) || names_folder_of(text, path) || is_one_of_all())
}

/// Whether a request mentions this file in any way: by its path or name, by a pattern, by a folder that it is in, or by a word
/// of its path: "the changelog".
fn is_mentioned(request: &str, path: &str) -> bool {
    let folders = path.split('/').rev().skip(1);
    is_named(request, path)
        || names_file(request, path)
        || folders.into_iter().any(|folder| names_file(request, folder))
        || has_word_of_path(&plain(request), path)
}

/// Whether a request names this file, by its path, its name or a pattern.
fn is_named(request: &str, path: &str) -> bool {
    !existing_files(request, &BTreeSet::from([path.to_owned()])).is_empty()
}
