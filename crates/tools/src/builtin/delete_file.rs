//! `delete_file`: deletes one file. A symlink is deleted itself, never what it leads to; a folder is left alone.
//!
//! Its content is kept first (T9), so an undo brings it back. After a crash the path shows whether the call took place:
//! what is still there was not deleted.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, ToolSpec};

use super::answer::WRITE_GRACE;
use super::arguments::parse_arguments;
use super::file_preview;
use super::file_work::{FileWork, run_on_file, verify_on_file};
use super::folder_names::FolderNames;
use super::spec::spec;
use crate::about_files::CHANGE;
use crate::place::sync_folder;
use crate::refusal::Refusal;
use crate::workspace::regular;
use crate::{About, BoxFuture, CallContext, CertainFailure, FileRules, PlannedChange, Tool, Verification, Workspace};

#[derive(Deserialize)]
struct FileDeletion {
    path: String,
}

pub(super) struct DeleteFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl DeleteFile {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file to delete."}
            },
            "required": ["path"],
            "additionalProperties": false
        });
        let description = include_str!("delete_file.md");
        Self { spec: spec("delete_file", description, EffectClass::Verifiable, &schema), workspace }
    }
}

impl Tool for DeleteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Some(self.workspace.about(arguments.get("path")?.as_str()?, CHANGE))
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let FileDeletion { path } = parse_arguments(arguments.clone())?;
        file_preview::delete_preview(&self.workspace, &path)
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let FileDeletion { path } = parse_arguments(arguments.clone()).ok()?;
        let unusable = self.workspace.unusable_entry(&path).or_else(|| deletable(&self.workspace, &path).err());
        unusable.map(CertainFailure::by_arguments)
    }

    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::Paths
    }

    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        let path = arguments.get("path").and_then(Value::as_str);
        path.map(|path| PlannedChange::Entry(path.to_owned())).into_iter().collect()
    }

    fn stop_grace(&self) -> Duration {
        WRITE_GRACE
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        run_on_file::<FileDeletion>(&self.workspace, context, arguments)
    }

    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        verify_on_file(&self.workspace, context, arguments, FileDeletion::verify)
    }
}

impl FileWork for FileDeletion {
    fn path(&self) -> &str {
        &self.path
    }

    fn carry_out(&self, workspace: &Workspace, context: &CallContext) -> Result<String, Refusal> {
        let (path, rules) = (&self.path, &context.files);
        let _alone = workspace.change();
        let place = workspace.place(path, rules)?;
        if !workspace.exists(path)? {
            return Err(workspace.explain(path, &io::ErrorKind::NotFound.into()));
        }
        deletable(workspace, path)?;
        // The system refuses to remove a folder so, should one take the file's place now.
        place.parent.remove_file(&place.name).map_err(|error| workspace.explain(path, &error))?;
        // It is deleted; a failed sync of the folder does not undo that.
        let _ = sync_folder(&place.parent);
        Ok(self.done(workspace, rules))
    }
}

impl FileDeletion {
    fn verify(&self, workspace: &Workspace, rules: &FileRules) -> Verification {
        match workspace.exists(&self.path) {
            Ok(true) => Verification::NotDone,
            Ok(false) => Verification::Done(Outcome::ok(self.done(workspace, rules))),
            Err(_) => Verification::Unknown,
        }
    }

    /// Returns the result: true as well if a crash came after the file was gone.
    fn done(&self, workspace: &Workspace, rules: &FileRules) -> String {
        let there = FolderNames::beside(workspace, &self.path, rules).map(|names| format!(" {}", names.now()));
        format!("{} is deleted.{}", self.path, there.unwrap_or_default())
    }
}

/// Refuses what is at `path` if it is neither a file nor a link. There may be nothing.
fn deletable(workspace: &Workspace, path: &str) -> Result<(), Refusal> {
    match workspace.dir().symlink_metadata(workspace.relative(path)?) {
        Ok(metadata) if metadata.is_symlink() => Ok(()),
        Ok(metadata) => regular(path, &metadata),
        Err(_) => Ok(()),
    }
}
