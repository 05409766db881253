//! The three tools that end the loop (L6): a successful call ends the run, and its text is the answer.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Ending, Outcome, ToolSpec};

use super::answer::ready;
use super::spec::spec;
use crate::{BoxFuture, CallContext, Tool};

/// Returns the tools `task_completion`, `ask_question` and `converse`.
#[must_use]
pub fn ending_tools() -> Vec<Arc<dyn Tool>> {
    [
        ("task_completion", include_str!("task_completion.md"), "result", Ending::Completed),
        ("ask_question", include_str!("ask_question.md"), "question", Ending::Asked),
        ("converse", include_str!("converse.md"), "message", Ending::Conversed),
    ]
    .map(|(name, description, field, ending)| -> Arc<dyn Tool> {
        let schema = json!({
            "type": "object",
            "properties": {field: {"type": "string", "minLength": 1, "description": "What the person is told."}},
            "required": [field],
            "additionalProperties": false
        });
        let spec = ToolSpec { ending: Some(ending), ..spec(name, description, EffectClass::ReadOnly, &schema) };
        Arc::new(EndingTool { spec, field })
    })
    .into()
}

struct EndingTool {
    spec: ToolSpec,
    field: &'static str,
}

impl Tool for EndingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, _: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        ready(match arguments.get(self.field).and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => Outcome::ok(text),
            Some(_) | None => Outcome::error(format!("`{}` is empty: write what the person is told.", self.field)),
        })
    }
}
