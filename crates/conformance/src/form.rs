//! Generates values that match a schema: its defaults, and otherwise any value of the type.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use windlass_tools::Tool;
use windlass_vocab::ToolSpec;

/// Fills in a form: every field, with its default if it has one.
pub(crate) fn filled(schema: &Value) -> Value {
    let fields = schema["properties"].as_object().into_iter().flatten();
    Value::Object(fields.map(|(name, field)| (name.clone(), value(field))).collect())
}

/// Generates a tool's required arguments. An argument that is a schema gets another tool's schema, literally.
pub(crate) fn arguments(of: &ToolSpec, tools: &[Arc<dyn Tool>]) -> Result<Value> {
    let schema: Value = serde_json::from_str(of.schema.as_str()).context("a schema is no JSON")?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut arguments = Map::new();
    for name in required {
        let another = tools.iter().find(|tool| tool.spec().name != of.name);
        let given = match another {
            Some(another) if name == "schema" => serde_json::from_str(another.spec().schema.as_str())?,
            Some(_) | None => value(&schema["properties"][name]),
        };
        arguments.insert(name.to_owned(), given);
    }
    Ok(Value::Object(arguments))
}

fn value(field: &Value) -> Value {
    let one_of = field["enum"].get(0).or_else(|| field["oneOf"].get(0).and_then(|choice| choice.get("const")));
    if let Some(value) = field.get("default").or(one_of) {
        return value.clone();
    }
    match field["format"].as_str() {
        Some("email") => return json!("ada@example.com"),
        Some("uri") => return json!("https://example.com/"),
        Some("date") => return json!("1815-12-10"),
        Some("date-time") => return json!("1815-12-10T12:00:00Z"),
        _ => {}
    }
    match field["type"].as_str() {
        Some("number") => json!(1.5),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_filled_with_its_defaults_and_otherwise_with_what_fits() {
        let schema = json!({"properties": {
            "name": {"type": "string", "default": "Ada"},
            "sure": {"type": "boolean"},
            "size": {"type": "string", "enum": ["s", "m"]},
            "kind": {"oneOf": [{"const": "a", "title": "A"}]},
        }});
        assert_eq!(filled(&schema), json!({"name": "Ada", "sure": true, "size": "s", "kind": "a"}));
    }
}
