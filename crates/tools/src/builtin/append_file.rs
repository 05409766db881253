//! `append_file`: adds lines at the end of a file, atomically.
//!
//! The file ends with a line break before the new text and after it, and keeps its own style of line ends. After a crash
//! a file that does not end with the text proves that nothing was added; one that does may have ended so before.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, SnapshotKind, TextOrigin, ToolSpec};

use super::answer::WRITE_GRACE;
use super::arguments::{parse_arguments, refuse_placeholder};
use super::change_excerpt::change_excerpt;
use super::file_preview;
use super::file_work::{FileWork, run_on_file, text_to_change, unwritable, verify_on_file};
use super::line_ends::with_line_ends_of;
use super::spec::spec;
use crate::about_files::CHANGE;
use crate::refusal::Refusal;
use crate::{About, BoxFuture, CallContext, CertainFailure, FileRules, PlannedChange, Tool, Verification, Workspace};

#[derive(Deserialize)]
struct FileAppend {
    path: String,
    text: String,
}

pub(super) struct AppendFile {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl AppendFile {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file to add to."},
                "text": {"type": "string", "minLength": 1, "description": "The lines to add."}
            },
            "required": ["path", "text"],
            "additionalProperties": false
        });
        let description = include_str!("append_file.md");
        Self { spec: spec("append_file", description, EffectClass::Verifiable, &schema), workspace }
    }
}

impl Tool for AppendFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Some(self.workspace.about(arguments.get("path")?.as_str()?, CHANGE))
    }

    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        self.workspace.origin_of_existing(arguments.get("path")?.as_str()?)
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let FileAppend { path, text } = parse_arguments(arguments.clone())?;
        file_preview::append_preview(&self.workspace, &path, &text, |before| appended(before, &text))
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let FileAppend { path, text } = parse_arguments(arguments.clone()).ok()?;
        unwritable(&self.workspace, &path, &text)
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
        run_on_file::<FileAppend>(&self.workspace, context, arguments)
    }

    fn verify(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Verification> {
        verify_on_file(&self.workspace, context, arguments, FileAppend::verify)
    }
}

impl FileAppend {
    /// Returns the content of the file, `None` if there is no file.
    fn content(&self, workspace: &Workspace, rules: &FileRules) -> Result<Option<String>, Refusal> {
        let path = &self.path;
        if !workspace.exists(path)? {
            return Ok(None);
        }
        text_to_change(workspace, path, rules).map(Some)
    }

    fn verify(&self, workspace: &Workspace, rules: &FileRules) -> Verification {
        match self.content(workspace, rules) {
            Ok(None) => Verification::NotDone,
            // What is below the text may have been added after it, so that its absence at the end shows nothing.
            Ok(Some(_)) | Err(_) => Verification::Unknown,
        }
    }
}

impl FileWork for FileAppend {
    fn path(&self) -> &str {
        &self.path
    }

    fn carry_out(&self, workspace: &Workspace, context: &CallContext) -> Result<String, Refusal> {
        let path = &self.path;
        refuse_placeholder(&self.text)?;
        let _alone = workspace.change();
        let (place, folders) = workspace.place_for_content(path, &context.files)?;
        let before = self.content(workspace, &context.files)?;
        let after = appended(before.as_deref().unwrap_or_default(), &self.text);
        place.replace(after.as_bytes(), &context.effect_id).map_err(|error| workspace.explain(path, &error))?;
        folders.keep();
        let done = if before.is_some() { format!("Added to {path}.") } else { format!("Made {path}.") };
        Ok(format!("{done} {}", change_excerpt(workspace.secrets(), before.as_deref().unwrap_or_default(), &after)))
    }
}

/// Returns `before` with the lines of `text` below it.
fn appended(before: &str, text: &str) -> String {
    let end =
        if before.ends_with("\r\n") || before.contains("\r\n") && !before.ends_with('\n') { "\r\n" } else { "\n" };
    let break_before = if before.is_empty() || before.ends_with('\n') { "" } else { end };
    let text = with_line_ends_of(before, text);
    let break_after = if text.ends_with('\n') { "" } else { end };
    [before, break_before, &text, break_after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T10
    #[test]
    fn text_is_added_as_lines_of_its_own_in_the_style_of_the_file() {
        for (before, text, after) in [
            ("", "a", "a\n"),
            ("a", "b", "a\nb\n"),
            ("a\n", "b\nc\n", "a\nb\nc\n"),
            ("a\r\n", "b\nc", "a\r\nb\r\nc\r\n"),
            ("a\r\nb", "c", "a\r\nb\r\nc\r\n"),
            ("a\n", "\nb", "a\n\nb\n"),
        ] {
            assert_eq!(appended(before, text), after, "{before:?} and {text:?}");
        }
    }
}
