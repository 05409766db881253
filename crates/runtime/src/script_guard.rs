//! Files that a script changed though nobody asked for it (X4). What a script does is known only after it ran: a file that it
//! lost, or changed beside those that the request names, is restored from the snapshot taken before, and the model is told.
//! Nothing else is touched: what the script made stays, and so does what others wrote meanwhile. A script that gave a file a
//! name that nobody means (`budget\n.txt`, `a.txt.txt`) is undone as a whole: what it did next would begin from there. A script
//! that a person approved is left alone.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use windlass_machine::{NameFault, Run, State};
use windlass_tools::{Mode, Permissions, SnapshotBounds};
use windlass_vocab::{
    CallRequested, Change, Changes, FileState, FilesChanged, Json, SessionId, SnapshotKind, first_paths,
};

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
        let misnamed = self.run.misnamed_by_script(&files.changes);
        let unasked = self.run.unasked_by_script(&self.script, &files.changes);
        let undone = match misnamed {
            Some(_) => files.changes.keys().cloned().collect(),
            None => unasked.clone(),
        };
        let workspace = services.workspace.clone().filter(|_| !undone.is_empty())?;
        let (secrets, mark) = (Arc::clone(&services.secrets), format!("{session}-{}", files.call));
        let inverse = reversed(&files.changes, &undone);
        let tried: HashSet<String> = inverse.keys().cloned().collect();
        let left = match restore_files(services.store.as_ref(), workspace, secrets, inverse, mark).await {
            Ok(left) => left,
            Err(error) => tried.iter().map(|path| (path.clone(), error.to_string())).collect(),
        };
        let is_restored = |path: &String| tried.contains(path) && !left.contains_key(path);
        let changes = files.changes.iter().filter(|(path, _)| !is_restored(path));
        let changes: Changes = changes.map(|(path, change)| (path.clone(), change.clone())).collect();
        let (restored, not): (Vec<&String>, Vec<&String>) = undone.iter().partition(|path| is_restored(path));
        let told = match misnamed {
            Some((path, fault)) => undone_wording(path, fault, &not),
            None => {
                let told: Vec<String> = message(&restored).into_iter().chain(not_restored(&not)).collect();
                told.join("\n")
            }
        };
        let lost = unasked.iter().filter(|path| !is_restored(path));
        let lost = lost.filter_map(|path| Some((path.clone(), fate(files.changes.get(path)?, left.get(path)))));
        let changed = FilesChanged {
            call: files.call,
            changes,
            unseen: files.unseen.clone(),
            // A script that misnamed a file did what was asked for, but badly: the model does it again.
            restored: if misnamed.is_some() { Vec::new() } else { restored.into_iter().cloned().collect() },
            lost: lost.collect(),
        };
        Some((changed, told))
    }
}

/// Returns what became of a file that could not be restored, and why.
fn fate(change: &Change, why: Option<&String>) -> String {
    let effect = if change.now.exists() { "changed" } else { "deleted" };
    match (&change.was, why) {
        (FileState::Unkept { size, .. }, _) if *size > SnapshotBounds::WORKSPACE.file_bytes => {
            format!("{effect}; it was too large to be kept")
        }
        (_, Some(why)) => format!("{effect}; {why}"),
        (_, None) => effect.to_owned(),
    }
}

/// Returns the changes that restore these files, and the folders in which they were.
fn reversed(changes: &Changes, paths: &[String]) -> Changes {
    let is_above =
        |folder: &str| paths.iter().any(|path| path.strip_prefix(folder).is_some_and(|p| p.starts_with('/')));
    let chosen: HashSet<&String> = paths.iter().collect();
    let restored = changes.iter().filter(|(path, change)| {
        // A link or a file may be in its place.
        let is_lost_folder = change.was.is_folder() && !change.now.is_folder();
        chosen.contains(path) || is_lost_folder && is_above(path)
    });
    restored.map(|(path, change)| (path.clone(), change.reversed())).collect()
}

/// Returns what the model is told of a script that is undone because of this name, but for files that could not be restored.
fn undone_wording(path: &str, fault: NameFault, not_restored: &[&String]) -> String {
    let except = first_paths(not_restored.iter().copied(), NAMED).map(|paths| format!(" except {paths}"));
    let why = match fault {
        NameFault::ControlCharacter => "a line break or tab in it. Use strip() on what is read from a file",
        NameFault::EndingTwice => "its ending twice. Do not add an ending to a name that has one",
    };
    format!("[All files{} are as before, because the name {path:?} has {why}.]", except.unwrap_or_default())
}

fn message(restored: &[&String]) -> Option<String> {
    let are = if restored.len() == 1 { "is" } else { "are" };
    first_paths(restored.iter().copied(), NAMED).map(|paths| {
        format!(
            "[{paths} {are} as before: the request does not ask for what the script changed or deleted there. Make a folder \
             before moving files into it. If it is not clear which files are meant, ask.]"
        )
    })
}

/// Returns what the model is told of files that are not as they were, though the request does not ask for it.
fn not_restored(paths: &[&String]) -> Option<String> {
    first_paths(paths.iter().copied(), NAMED)
        .map(|paths| format!("[The script changed or deleted {paths}, which the request does not ask for.]"))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{Change, Changes, FileState, Hash};

    use super::{fate, reversed};

    // proves X4, T9: the folder of a restored file is restored as well, whatever is in its place
    #[test]
    fn a_folder_that_was_replaced_is_restored_with_its_file() {
        let file = FileState::File { blob: Hash([1; 32]), mode: 0o644, inode: None };
        let folder = FileState::Folder { mode: 0o755, inode: None };
        let link = FileState::Link { target: "/etc".into(), inode: None };
        for now in [FileState::Absent, link, file.clone()] {
            let lost = Change { was: file.clone(), now: FileState::OUT_OF_REACH };
            let replaced = Change { was: folder.clone(), now };
            let changes = Changes::from([("c".into(), replaced.clone()), ("c/d".into(), lost.clone())]);
            let expected = Changes::from([("c".into(), replaced.reversed()), ("c/d".into(), lost.reversed())]);
            assert_eq!(reversed(&changes, &["c/d".to_owned()]), expected);
            assert_eq!(reversed(&changes, &["d".to_owned()]), Changes::new());
        }
    }

    // proves X4: it is said why a file is lost
    #[test]
    fn a_lost_file_was_too_large_or_could_not_be_written() {
        let large = FileState::Unkept { size: 2 << 20, modified: 1, inode: 1 };
        let deleted = Change { was: large, now: FileState::Absent };
        assert_eq!(fate(&deleted, Some(&"its content was not kept".into())), "deleted; it was too large to be kept");
        let small = FileState::Unkept { size: 2, modified: 1, inode: 1 };
        let changed = Change { was: small.clone(), now: small };
        assert_eq!(fate(&changed, Some(&"its content was not kept".into())), "changed; its content was not kept");
    }
}
