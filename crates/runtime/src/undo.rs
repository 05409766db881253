//! Undo (T9): reverses what a call, or an earlier undo, did to files.
//!
//! The protocol: the journal says what the effect changed; every path is inspected, and if one is not in the state in
//! which the effect left it, nothing is changed. Otherwise `UndoStarted` is stored, with the present states; then the
//! files are restored one by one; then `Undone` is stored. After a crash in between, the next opening or undo of the
//! session finishes it.
//!
//! A live session undoes through its driver; [`undo`] works without one, so that nobody needs a model to restore their
//! files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use windlass_machine::{CheckedUndo, Conflict, Fact, FileEffect, Ledger, Obstacle, UndoPlan};
use windlass_store::{Batch, Store, StoreError};
use windlass_tools::{FileRules, FileSnapshot, Secrets, SnapshotBounds, UnkeptFiles, Workspace, diff, shown_path};
use windlass_vocab::{FileState, Hash, Record, SessionId, UndoStarted, Undoable};

use crate::claimed_journal::ClaimedJournal;
use crate::clock::Clock;
use crate::opening::OpenError;
use crate::restore_files::{on_disk, restore_files};
use crate::undo_report::{UndoConflict, UndoError, UndoMode, UndoReport, UndoRequest};

/// The services that an undo needs.
#[derive(Clone)]
pub struct UndoFiles {
    /// The store of the journal.
    pub store: Arc<dyn Store>,
    /// The folder of the files.
    pub workspace: Arc<Workspace>,
    /// The secrets that must not be stored or displayed.
    pub secrets: Arc<Secrets>,
    /// The rules on which files must not be changed.
    pub rules: FileRules,
}

impl std::fmt::Debug for UndoFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UndoFiles").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

/// An undo that may start.
pub(crate) struct PlannedUndo {
    pub(crate) asked: CheckedUndo,
    pub(crate) blobs: Vec<Arc<[u8]>>,
    pub(crate) report: UndoReport,
}

impl UndoFiles {
    /// Inspects all paths and returns what would be done, or why it can't be.
    pub(crate) async fn plan(&self, session: SessionId, request: UndoRequest) -> Result<PlannedUndo, UndoError> {
        let journal = self.store.read(session, 0).await?;
        let ledger = Ledger::fold(journal.iter().map(|envelope| &envelope.record));
        let is_there = |of: Undoable| journal.iter().any(|envelope| is_of(&envelope.record, of));
        let file_effect = requested_effect(&ledger, request.of, is_there)?;
        let looked = self.look(file_effect).await;
        let plan = file_effect.plan(&looked.files, request.force).keeping(&looked.kept);
        self.may_change(&plan).await?;
        if !plan.conflicts.is_empty() {
            return Err(UndoError::Conflicts(self.conflicts_with_diffs(&ledger, file_effect, &plan, &looked).await?));
        }
        let call = match file_effect.of {
            Undoable::Call(call) => Some(call),
            Undoable::Undo(_) => None,
        };
        let uncovered = ledger.uncovered_after(call).filter(|_| request.of.is_none()).cloned().collect();
        let report = UndoReport {
            of: file_effect.of,
            tool: file_effect.tool.clone(),
            undo: None,
            restored: plan.changes.clone(),
            left_alone: plan.unable.clone(),
            coverage: file_effect.coverage.clone(),
            unseen: file_effect.unseen.clone(),
            uncovered,
        };
        let asked = CheckedUndo {
            of: file_effect.of,
            tool: file_effect.tool.clone(),
            changes: plan.changes,
            unable: plan.unable,
        };
        let replaced: HashSet<Hash> = asked.changes.values().filter_map(|change| change.was.blob()).collect();
        let mut blobs = looked.contents;
        blobs.retain(|content| replaced.contains(&windlass_store::hash_of(content)));
        Ok(PlannedUndo { asked, blobs, report })
    }

    /// Returns an error if a rule forbids changing one of the paths.
    async fn may_change(&self, plan: &UndoPlan) -> Result<(), UndoError> {
        let conflicts = plan.conflicts.iter().map(|conflict| &conflict.path);
        let paths: Vec<String> = plan.changes.keys().chain(conflicts).cloned().collect();
        let (workspace, rules) = (Arc::clone(&self.workspace), self.rules.clone());
        let denying = move |path: &String| Some((path.clone(), workspace.denying_change(path, &rules)?));
        match on_disk(move || paths.iter().find_map(denying)).await {
            Some((path, rule)) => Err(UndoError::Forbidden { path, rule }),
            None => Ok(()),
        }
    }

    async fn look(&self, file_effect: &FileEffect) -> FileSnapshot {
        let paths: Vec<String> = file_effect.paths().cloned().collect();
        let recorded = UnkeptFiles::of(file_effect.states().into_iter());
        let (workspace, secrets) = (Arc::clone(&self.workspace), Arc::clone(&self.secrets));
        on_disk(move || {
            workspace.snapshot_recorded(paths.iter().map(String::as_str), recorded, SnapshotBounds::PATHS, &secrets)
        })
        .await
    }

    /// Restores the files; returns those that were left alone, and why.
    pub(crate) async fn restore(
        &self,
        session: SessionId,
        started: &UndoStarted,
    ) -> Result<BTreeMap<String, String>, StoreError> {
        let (workspace, secrets) = (Arc::clone(&self.workspace), Arc::clone(&self.secrets));
        let (changes, mark) = (started.changes.clone(), format!("{session}-{}", started.undo));
        restore_files(self.store.as_ref(), workspace, secrets, changes, mark).await
    }

    async fn conflicts_with_diffs(
        &self,
        ledger: &Ledger,
        file_effect: &FileEffect,
        plan: &UndoPlan,
        looked: &FileSnapshot,
    ) -> Result<Vec<UndoConflict>, StoreError> {
        let here: HashMap<Hash, &Arc<[u8]>> =
            looked.contents.iter().map(|content| (windlass_store::hash_of(content), content)).collect();
        let mut shown = Vec::new();
        for conflict in &plan.conflicts {
            // Secrets are replaced before lines are compared and left out.
            let seen = |content: Arc<[u8]>| self.secrets.scrub_bytes(&content);
            let now = conflict.now.blob().and_then(|hash| here.get(&hash).copied().cloned()).map(seen);
            let then = match conflict.then.blob() {
                Some(hash) => self.store.blob(hash).await?.map(seen),
                None => None,
            };
            let diff = difference(conflict, now.as_deref(), then.as_deref());
            let since = match conflict.obstacle {
                Obstacle::ChangedSince => ledger.changed_since(file_effect.of, &conflict.path, &conflict.now),
                Obstacle::LeftUnknown | Obstacle::WouldBeLost | Obstacle::Blocked => None,
            };
            shown.push(UndoConflict { conflict: conflict.clone(), since, diff });
        }
        Ok(shown)
    }
}

/// Whether this record proves that such a call or undo exists.
fn is_of(record: &Record, of: Undoable) -> bool {
    match of {
        Undoable::Call(call) => matches!(record, Record::CallRequested(requested) if requested.call == call),
        Undoable::Undo(undo) => matches!(record, Record::UndoStarted(started) if started.undo == undo),
    }
}

/// Returns the requested file effect, if it can be undone.
fn requested_effect(
    ledger: &Ledger,
    of: Option<Undoable>,
    is_there: impl Fn(Undoable) -> bool,
) -> Result<&FileEffect, UndoError> {
    let Some(of) = of else { return ledger.last().ok_or(UndoError::Nothing) };
    let nothing = || if is_there(of) { UndoError::Unchanged(of) } else { UndoError::NoSuch(of) };
    let file_effect = ledger.find(of).ok_or_else(nothing)?;
    match file_effect.taken_back {
        Some(by) => Err(UndoError::TakenBack { of, by }),
        None => Ok(file_effect),
    }
}

/// Returns what restoring a path would change: the diff of two texts, or the two states in words.
fn difference(conflict: &Conflict, now: Option<&[u8]>, then: Option<&[u8]>) -> String {
    let is_text = |state: &FileState| matches!(state, FileState::File { .. } | FileState::Absent);
    let path = &shown_path(&conflict.path);
    let modes = match (conflict.now.mode(), conflict.then.mode()) {
        (Some(now), Some(then)) if now != then => format!("{path}: mode {now:04o} would become {then:04o}\n"),
        _ => String::new(),
    };
    if is_text(&conflict.now) && is_text(&conflict.then) && (now != then) {
        return modes + &diff::compare(now, then, path, diff::DiffLimits::default());
    }
    format!("{path}: {} would become {}\n", described(&conflict.now), described(&conflict.then))
}

fn described(state: &FileState) -> String {
    match state {
        FileState::Absent => "nothing".to_owned(),
        FileState::File { mode, .. } => format!("a file with mode {mode:04o}"),
        FileState::Link { target, .. } => format!("a link to {target}"),
        FileState::Folder { mode, .. } => format!("a folder with mode {mode:04o}"),
        state if *state == FileState::OUT_OF_REACH => "something that can't be reached".to_owned(),
        FileState::Unkept { size, .. } => format!("something of {size} bytes whose content is not kept"),
    }
}

/// Restores the files of an undo that was started.
async fn finish(files: &UndoFiles, journal: &mut ClaimedJournal<'_>) -> Result<BTreeMap<String, String>, StoreError> {
    let Some(started) = journal.state.control.undo.clone() else { return Ok(BTreeMap::new()) };
    let left_alone = files.restore(journal.state.session, &started).await?;
    journal.record(Fact::Restored { undo: started.undo, left_alone: left_alone.clone() }).await?;
    Ok(left_alone)
}

/// Undoes in a session that is not live here. An undo that a crash interrupted is finished first.
pub async fn undo(
    files: &UndoFiles,
    session: SessionId,
    request: UndoRequest,
    clock: &dyn Clock,
) -> Result<UndoReport, UndoError> {
    let claimed = ClaimedJournal::claim(files.store.as_ref(), &files.secrets, clock, session).await;
    let mut journal = claimed.map_err(|error| match error {
        OpenError::Store(error) => UndoError::Store(error),
        OpenError::Newer { .. } => UndoError::Newer,
        OpenError::Survivors { why } => UndoError::Store(StoreError::Busy { holder: why }),
    })?;
    if journal.state.control.run.is_some() {
        return Err(UndoError::RunOpen);
    }
    if let Some(started) = journal.state.control.undo.clone() {
        let mut report = UndoReport::of(&started);
        if request.mode == UndoMode::DryRun {
            return Ok(UndoReport { undo: None, ..report });
        }
        journal.begin().await?;
        report.finished(finish(files, &mut journal).await?);
        // A person who asks again after a crash means the same undo, not another one.
        if request.of.is_none_or(|of| of == started.of) {
            return Ok(report);
        }
    }
    let PlannedUndo { asked, blobs, mut report } = files.plan(session, request).await?;
    if request.mode == UndoMode::DryRun {
        return Ok(report);
    }
    if journal.is_untouched() {
        journal.begin().await?;
    }
    journal.record_with(Fact::Undo(Box::new(asked)), Batch { blobs, ..Batch::default() }).await?;
    report.undo = journal.state.control.undo.as_ref().map(|started| started.undo);
    report.finished(finish(files, &mut journal).await?);
    Ok(report)
}
