//! `write_file`: the whole content of a file, in one step.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, ToolSpec};

use super::answer::{WRITE_GRACE, invalid, on_disk};
use super::arguments::{read, refuse_placeholder};
use super::shown;
use super::spec::spec;
use crate::cut::thousands;
use crate::file_subject::WRITE;
use crate::{BoxFuture, CallContext, Subject, Tool, Touch, Workspace};

#[derive(Deserialize)]
struct Arguments {
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

    fn subject(&self, arguments: &Value) -> Option<Subject> {
        Some(self.workspace.subject(arguments.get("path")?.as_str()?, WRITE))
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let Arguments { path, content } = read(arguments.clone())?;
        shown::written(&self.workspace, &path, &content)
    }

    fn keeps(&self) -> SnapshotKind {
        SnapshotKind::Paths
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        arguments.get("path").and_then(Value::as_str).map(|path| Touch::Content(path.to_owned())).into_iter().collect()
    }

    fn stop_grace(&self) -> Duration {
        WRITE_GRACE
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        match read::<Arguments>(arguments) {
            Ok(Arguments { path, content }) => on_disk(move || {
                refuse_placeholder(&content)?;
                let _alone = workspace.change();
                let (place, folders) = workspace.place_for_content(&path, &context.files)?;
                place
                    .replace(content.as_bytes(), &context.effect_id)
                    .map_err(|error| workspace.explain(&path, &error))?;
                folders.keep();
                Ok(format!("Wrote {} bytes to {path}.", thousands(content.len())))
            }),
            Err(problem) => invalid(problem),
        }
    }
}
