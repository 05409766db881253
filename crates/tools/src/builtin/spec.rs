//! Builds the specs of built-in tools.

use serde_json::Value;
use windlass_vocab::{EffectClass, Json, ToolName, ToolSpec};

pub(super) fn spec(name: &str, description: &str, effect: EffectClass, schema: &Value) -> ToolSpec {
    ToolSpec {
        name: ToolName(format!("local.{name}")),
        wire_name: name.to_owned(),
        description: description.trim().into(),
        schema: Json::from(schema),
        effect,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

/// Returns the spec of a tool that only reads files of the workspace.
pub(super) fn file_read_spec(name: &str, description: &str, schema: &Value) -> ToolSpec {
    ToolSpec { reads_files: true, ..spec(name, description, EffectClass::ReadOnly, schema) }
}
