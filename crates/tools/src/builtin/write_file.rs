//! `write_file`: writes the whole content of a file, atomically.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, ToolSpec};

use super::answer::WRITE_GRACE;
use super::arguments::{parse_arguments, refuse_placeholder};
use super::file_preview;
use super::file_work::{FileWork, run_on_file, unwritable};
use super::folder_names::FolderNames;
use super::spec::spec;
use crate::about_files::WRITE;
use crate::cut::thousands;
use crate::refusal::Refusal;
use crate::{About, BoxFuture, CallContext, CertainFailure, FileRules, PlannedChange, Tool, Workspace};

#[derive(Deserialize)]
struct WriteFileArguments {
    path: String,
    content: String,
}

pub(super) struct WriteFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl WriteFile {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file to write."},
                "content": {"type": "string", "description": "All of its content."}
            },
            "required": ["path", "content"],
            "additionalProperties": false
        });
        let description = include_str!("write_file.md");
        Self { spec: spec("write_file", description, EffectClass::Idempotent, &schema), workspace }
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Some(self.workspace.about(arguments.get("path")?.as_str()?, WRITE))
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let WriteFileArguments { path, content } = parse_arguments(arguments.clone())?;
        file_preview::write_preview(&self.workspace, &path, &content)
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let WriteFileArguments { path, content } = parse_arguments(arguments.clone()).ok()?;
        unwritable(&self.workspace, &path, &content)
    }

    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::Paths
    }

    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        PlannedChange::content_of(arguments)
    }

    fn lost_files(&self, arguments: &Value) -> Vec<String> {
        let order = parse_arguments::<WriteFileArguments>(arguments.clone()).ok();
        let emptied = order
            .filter(|order| order.content.trim().is_empty() && self.workspace.exists(&order.path).unwrap_or(false));
        emptied.map(|order| order.path).into_iter().collect()
    }

    fn stop_grace(&self) -> Duration {
        WRITE_GRACE
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        run_on_file::<WriteFileArguments>(&self.workspace, context, arguments)
    }
}

impl FileWork for WriteFileArguments {
    fn path(&self) -> &str {
        &self.path
    }

    fn carry_out(&self, workspace: &Workspace, context: &CallContext) -> Result<String, Refusal> {
        let Self { path, content } = self;
        refuse_placeholder(content)?;
        let _alone = workspace.change();
        let (place, folders) = workspace.place_for_content(path, &context.files)?;
        let is_new = !workspace.exists(path)?;
        if !is_new && reads_so(workspace, path, content, &context.files) {
            return Ok(format!("`{path}` reads exactly so already. Nothing was changed."));
        }
        place.replace(content.as_bytes(), &context.effect_id).map_err(|error| workspace.explain(path, &error))?;
        folders.keep();
        let there = if is_new { FolderNames::beside(workspace, path, &context.files) } else { None };
        let there = there.map(|names| format!(" {}", names.now())).unwrap_or_default();
        Ok(format!("Wrote {} bytes to {path}.{there}", thousands(content.len())))
    }
}

/// Whether a file has exactly this content.
fn reads_so(workspace: &Workspace, path: &str, content: &str, rules: &FileRules) -> bool {
    let most = u64::try_from(content.len()).unwrap_or(u64::MAX);
    workspace.read(path, most, rules).is_ok_and(|bytes| bytes == content.as_bytes())
}
