//! Files that a script changed though nobody asked for it (X4). What a script does is known only after it ran: a file that it
//! lost, or changed beside those that the request names, is restored from the snapshot taken before, and the model is told.
//! Nothing else is touched: what the script made stays, and so does what others wrote meanwhile. A script that a person
//! approved is left alone.

use std::sync::Arc;

use serde_json::Value;
use windlass_machine::{Run, State};
use windlass_tools::{Mode, Permissions};
use windlass_vocab::{CallRequested, Changes, FilesChanged, Json, SessionId, SnapshotKind};

use crate::restore_files::restore_files;
use crate::script_run::writes_scripts;
use crate::services::Services;

/// The most files that the model is told of.
const NAMED: usize = 5;

/// Knows which changes of a script were asked for.
pub(crate) struct ScriptGuard {
    run: Run,
    script: String,
}

impl ScriptGuard {
    /// Returns the guard of a call with these arguments, if it is a script that nobody approved.
    pub(crate) fn of(
        state: &State,
        request: &CallRequested,
        arguments: &Json,
        permissions: &Permissions,
    ) -> Option<Self> {
        let is_script = request.snapshot == SnapshotKind::Workspace && writes_scripts(state);
        let run = state.control.run.as_ref().filter(|_| is_script && permissions.mode != Mode::Bypass)?;
        if run.is_approved(request.call) {
            return None;
        }
        let script = arguments.to_value().get("command").and_then(Value::as_str)?.to_owned();
        Some(Self { run: run.clone(), script })
    }

    /// Restores what a script changed unasked. Returns what is changed now, and what the model is told.
    pub(crate) async fn restore(
        &self,
        services: &Arc<Services>,
        session: SessionId,
        files: &FilesChanged,
    ) -> Option<(FilesChanged, String)> {
        let unasked = self.run.unasked_by_script(&self.script, &files.changes);
        let workspace = services.workspace.clone().filter(|_| !unasked.is_empty())?;
        let (secrets, mark) = (Arc::clone(&services.secrets), format!("{session}-{}", files.call));
        let inverse = reversed(&files.changes, &unasked);
        let tried: Vec<String> = inverse.keys().cloned().collect();
        let left = match restore_files(services.store.as_ref(), workspace, secrets, inverse, mark).await {
            Ok(left) => left,
            Err(_) => return Some((files.clone(), not_restored(&unasked.iter().collect::<Vec<_>>())?)),
        };
        let is_restored = |path: &String| tried.contains(path) && !left.contains_key(path);
        let changes = files.changes.iter().filter(|(path, _)| !is_restored(path));
        let changes: Changes = changes.map(|(path, change)| (path.clone(), change.clone())).collect();
        let (restored, lost): (Vec<&String>, Vec<&String>) = unasked.iter().partition(|path| is_restored(path));
        let told: Vec<String> = message(&restored).into_iter().chain(not_restored(&lost)).collect();
        Some((FilesChanged { call: files.call, changes, unseen: files.unseen.clone() }, told.join("\n")))
    }
}

/// Returns the changes that restore these files, and the folders in which they were.
fn reversed(changes: &Changes, paths: &[String]) -> Changes {
    let is_above =
        |folder: &str| paths.iter().any(|path| path.strip_prefix(folder).is_some_and(|p| p.starts_with('/')));
    let restored = changes.iter().filter(|(path, change)| {
        let is_lost_folder = change.was.is_folder() && !change.now.exists();
        paths.contains(path) || is_lost_folder && is_above(path)
    });
    restored.map(|(path, change)| (path.clone(), change.reversed())).collect()
}

fn message(restored: &[&String]) -> Option<String> {
    let are = if restored.len() == 1 { "is" } else { "are" };
    (!restored.is_empty()).then(|| {
        format!(
            "[{} {are} as before: the request does not name what the script changed or deleted there. Make a folder before \
             moving files into it. If it is not clear which files are meant, ask.]",
            named(restored)
        )
    })
}

/// Returns what the model is told of files that are not as they were, though the request does not name them.
fn not_restored(paths: &[&String]) -> Option<String> {
    (!paths.is_empty())
        .then(|| format!("[The script changed or deleted {}, which the request does not name.]", named(paths)))
}

fn named(paths: &[&String]) -> String {
    let first = paths.iter().take(NAMED).map(|path| path.as_str()).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
