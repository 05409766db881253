//! `write_file`: writes the whole content of a file, atomically.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, ToolSpec};

use super::answer::{WRITE_GRACE, invalid_arguments, run_file_work};
use super::arguments::{parse_arguments, refuse_placeholder};
use super::file_preview;
use super::spec::spec;
use crate::about_files::WRITE;
use crate::cut::thousands;
use crate::{About, BoxFuture, CallContext, CertainFailure, PlannedChange, Tool, Workspace};

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
        let placeholder = refuse_placeholder(&content).err();
        let reason = placeholder.or_else(|| self.workspace.unusable_as_file(&path).map(String::from));
        reason.map(CertainFailure::by_arguments)
    }

    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::Paths
    }

    fn planned_changes(&self, arguments: &Value) -> Vec<PlannedChange> {
        PlannedChange::content_of(arguments)
    }

    fn stop_grace(&self) -> Duration {
        WRITE_GRACE
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        match parse_arguments::<WriteFileArguments>(arguments) {
            Ok(WriteFileArguments { path, content }) => run_file_work(move || {
                refuse_placeholder(&content)?;
                let _alone = workspace.change();
                let (place, folders) = workspace.place_for_content(&path, &context.files)?;
                place
                    .replace(content.as_bytes(), &context.effect_id)
                    .map_err(|error| workspace.explain(&path, &error))?;
                folders.keep();
                Ok(format!("Wrote {} bytes to {path}.", thousands(content.len())))
            }),
            Err(problem) => invalid_arguments(problem),
        }
    }
}
