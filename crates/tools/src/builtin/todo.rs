//! `todo`: replaces the whole plan.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, PlanItem, PlanStatus, ToolSpec};

use super::answer::{invalid_arguments, ready};
use super::arguments::parse_arguments;
use super::spec::spec;
use crate::{BoxFuture, CallContext, Tool};

#[derive(Deserialize)]
struct TodoArguments {
    items: Vec<PlanItem>,
}

pub(super) struct Todo {
    spec: ToolSpec,
}

impl Todo {
    pub(super) fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "maxItems": 200,
                    "items": {
                        "type": "object",
                        "properties": {
                            "step": {"type": "string", "description": "What is to be done."},
                            "status": {"type": "string", "enum": ["open", "doing", "done"]}
                        },
                        "required": ["step", "status"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["items"],
            "additionalProperties": false
        });
        Self { spec: spec("todo", include_str!("todo.md"), EffectClass::Idempotent, &schema) }
    }
}

impl Tool for Todo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run(&self, _: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        match parse_arguments::<TodoArguments>(arguments) {
            Ok(TodoArguments { items }) => {
                ready(Outcome { plan: Some(items.clone()), ..Outcome::ok(rendered(&items)) })
            }
            Err(problem) => invalid_arguments(problem),
        }
    }
}

fn rendered(items: &[PlanItem]) -> String {
    let done = items.iter().filter(|item| item.status == PlanStatus::Done).count();
    let mut text = format!("The plan has {} steps, {done} of them done.", items.len());
    for item in items {
        text += &format!("\n{item}");
    }
    text
}
