//! `move_file`: moves a file or folder to another path, atomically.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, ToolSpec};

use super::answer::WRITE_GRACE;
use super::arguments::parse_arguments;
use super::file_preview::{self, Overwrite};
use super::file_work::{FileWork, run_on_file, verify_on_file};
use super::folder_names::FolderNames;
use super::spec::spec;
use crate::place::sync_folder;
use crate::refusal::Refusal;
use crate::{About, BoxFuture, CallContext, CertainFailure, FileRules, PlannedChange, Tool, Verification, Workspace};

#[derive(Deserialize)]
struct FileMove {
    from: String,
    to: String,
    #[serde(default)]
    overwrite: bool,
}

pub(super) struct MoveFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl MoveFile {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "from": {"type": "string", "description": "The path it has."},
                "to": {"type": "string", "description": "The path it gets, its name included."},
                "overwrite": {"type": "boolean", "description": "Replace a file that is already there."}
            },
            "required": ["from", "to"],
            "additionalProperties": false
        });
        let description = include_str!("move_file.md");
        Self { spec: spec("move_file", description, EffectClass::Verifiable, &schema), workspace }
    }
}

impl Tool for MoveFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Some(self.workspace.about_move(arguments.get("from")?.as_str()?, arguments.get("to")?.as_str()?))
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let FileMove { from, to, overwrite } = parse_arguments(arguments.clone())?;
        let replaces = if overwrite { Overwrite::Yes } else { Overwrite::No };
        file_preview::move_preview(&self.workspace, &from, &to, replaces)
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let FileMove { from, to, .. } = parse_arguments(arguments.clone()).ok()?;
        let unusable = self.workspace.unusable_entry(&from).or_else(|| self.workspace.unusable_entry(&to));
        unusable.map(CertainFailure::by_arguments)
    }

    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::Paths
    }

    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        let path = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
        path("from").map(PlannedChange::Moved).into_iter().chain(path("to").map(PlannedChange::Entry)).collect()
    }

    fn lost_files(&self, arguments: &Value) -> Vec<String> {
        let order = parse_arguments::<FileMove>(arguments.clone()).ok();
        let replaced = order.filter(|order| order.overwrite && self.workspace.exists(&order.to).unwrap_or(false));
        replaced.map(|order| order.to).into_iter().collect()
    }

    fn stop_grace(&self) -> Duration {
        WRITE_GRACE
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        run_on_file::<FileMove>(&self.workspace, context, arguments)
    }

    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        verify_on_file(&self.workspace, context, arguments, FileMove::verify)
    }
}

impl FileMove {
    fn verify(&self, workspace: &Workspace, _: &FileRules) -> Verification {
        match workspace.exists(&self.from) {
            Ok(true) => Verification::NotDone,
            // The file at the new path may have been there before, and the old path may never have existed: then the call
            // would have failed.
            Ok(false) | Err(_) => Verification::Unknown,
        }
    }

    /// Returns what to write instead if the new path seems to name the directory to put the file into. `is_folder` says what
    /// is there, if anything is.
    fn means_folder(&self, is_folder: Option<bool>) -> Option<String> {
        let to = self.to.trim_end_matches('/');
        let name = base_name(&self.from);
        let path = format!("{to}/{name}");
        if is_folder == Some(true) {
            return Some(format!("`{to}` is a directory. To put the file there, write its whole new path: `{path}`."));
        }
        // A new name has an ending where the old one has, is the old one without it, or begins like `LICENSE`.
        let stem = name.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
        let new = base_name(to);
        let is_name = stem.is_none_or(|stem| new.contains('.') || new == stem || new.starts_with(char::is_uppercase));
        (is_folder.is_none() && (!is_name || self.to.ends_with('/'))).then(|| {
            format!(
                "There is no directory `{to}`. To put the file into a new directory, write its whole new path: `{path}`. To \
                 rename it, keep its ending."
            )
        })
    }
}

/// Returns the last name of a path.
fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

impl FileWork for FileMove {
    fn path(&self) -> &str {
        &self.from
    }

    fn carry_out(&self, workspace: &Workspace, context: &CallContext) -> Result<String, Refusal> {
        let (Self { from, to, overwrite }, rules) = (self, &context.files);
        let _alone = workspace.change();
        workspace.admit_move(from, to, rules)?;
        if !workspace.exists(from)? {
            return Err(Refusal::not_found(format!("There is no `{from}` in the workspace.")));
        }
        let source = workspace.place(from, rules)?;
        let (target, folders) = workspace.new_place(to, rules)?;
        let there = target.parent.symlink_metadata(&target.name).ok().map(|metadata| metadata.is_dir());
        let is_folder = source.parent.symlink_metadata(&source.name).is_ok_and(|metadata| metadata.is_dir());
        if let Some(advice) = self.means_folder(there).filter(|_| !is_folder || there == Some(true)) {
            return Err(Refusal::wrong_argument(advice));
        }
        let moved = if *overwrite {
            source.parent.rename(&source.name, &target.parent, &target.name)
        } else {
            source.rename_new(&target)
        };
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => format!("There is already a `{to}`: choose another path or set overwrite."),
            io::ErrorKind::CrossesDevices => {
                format!("`{from}` and `{to}` are on different file systems: copy it with a command, then remove it.")
            }
            _ => format!("`{from}` can't be moved to `{to}`: {error}."),
        })?;
        folders.keep();
        // The move has taken place; a failed sync of a folder does not undo it.
        let _ = sync_folder(&target.parent).and_then(|()| sync_folder(&source.parent));
        let there = FolderNames::beside(workspace, to, rules).map(|names| format!(" {}", names.now()));
        Ok(format!("Moved {from} to {to}.{}", there.unwrap_or_default()))
    }
}
