//! Scripts that do what was not asked for (S2, X3). What a script does is known only after it ran: where it deleted a file
//! that was not to be deleted, lost one while moving others, or changed one that the request does not name beside those it
//! names, everything that it changed is restored from the snapshot taken before, and the model is told. A script that a
//! person approved is left alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use windlass_machine::{CallApproval, Run, ScriptOverreach, State};
use windlass_tools::{Mode, Permissions};
use windlass_vocab::{CallRequested, Change, Changes, FileState, FilesChanged, SessionId, SnapshotKind};

use crate::script_run::writes_scripts;
use crate::services::Services;

/// The most files that the model is told of.
const NAMED: usize = 5;

/// Knows which changes of a script were asked for.
pub(crate) struct ScriptGuard {
    run: Run,
}

impl ScriptGuard {
    /// Returns the guard of a call, if it is a script that nobody approved.
    pub(crate) fn of(state: &State, request: &CallRequested, permissions: &Permissions) -> Option<Self> {
        let is_script = request.snapshot == SnapshotKind::Workspace && writes_scripts(state);
        let run = state.control.run.as_ref().filter(|_| is_script && permissions.mode != Mode::Bypass)?;
        let is_approved = |call: &windlass_machine::Call| call.approved != CallApproval::No;
        let call = run.calls().iter().find(|call| call.request.call == request.call);
        (!call.is_some_and(is_approved)).then(|| Self { run: run.clone() })
    }

    /// Restores all that a script changed, if it did what was not asked for. Returns what is changed now, and what the model is
    /// told.
    pub(crate) async fn take_back(
        &self,
        services: &Arc<Services>,
        session: SessionId,
        files: &FilesChanged,
    ) -> Option<(FilesChanged, String)> {
        let overreach = self.run.unasked_by_script(&files.changes)?;
        let workspace = services.workspace.clone()?;
        let inverse: Changes = files.changes.iter().map(|(path, change)| (path.clone(), reversed(change))).collect();
        let mut contents = HashMap::new();
        for hash in inverse.values().filter_map(|change| change.now.blob()) {
            contents.extend(services.store.blob(hash).await.ok().flatten().map(|content| (hash, content)));
        }
        let (secrets, mark) = (Arc::clone(&services.secrets), format!("{session}-{}", files.call));
        let left = tokio::task::spawn_blocking(move || workspace.restore(&inverse, &contents, &secrets, &mark));
        let left: BTreeMap<String, String> = left.await.ok()?;
        let changes = files.changes.iter().filter(|(path, _)| left.contains_key(*path));
        let changes: Changes = changes.map(|(path, change)| (path.clone(), change.clone())).collect();
        let text = message(&overreach, changes.keys().next().map(String::as_str));
        Some((FilesChanged { call: files.call, changes, unseen: files.unseen.clone() }, text))
    }
}

fn reversed(change: &Change) -> Change {
    let (was, now): (FileState, FileState) = (change.now.clone(), change.was.clone());
    Change { was, now }
}

fn message(overreach: &ScriptOverreach, not_restored: Option<&str>) -> String {
    let undone = match not_restored {
        None => "so all that it changed was undone: no file is changed".to_owned(),
        Some(path) => format!("so what it changed was undone, except {path}, which could not be restored"),
    };
    match overreach {
        ScriptOverreach::Lost(lost) => {
            let named = lost.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            format!(
                "[The script lost {named}, which was not asked for, {undone}. Make a folder before moving files into it. If it \
                 is not clear which files are meant, ask.]"
            )
        }
        ScriptOverreach::NotNamed(path) => {
            format!(
                "[The script changed {path}, which the request does not name, {undone}. Change only what it names.]"
            )
        }
    }
}
