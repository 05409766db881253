//! The JSON Schema of an answer, as far as this API accepts one (L10).
//!
//! The server knows a subset: every object closed, no limits on numbers, lengths and counts, no recursion. Limits are
//! left out, because the answer is checked against the whole schema afterwards; a schema whose shape can't be written
//! in the subset is not sent at all.

use serde_json::{Map, Value};
use windlass_vocab::Json;

/// Keywords that are sent as they are.
const KEPT: [&str; 8] = ["title", "description", "type", "enum", "const", "default", "required", "$ref"];
/// Keywords with a schema for each name.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];
/// Formats of strings that the server knows.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];
/// Keywords that only limit a value.
const LIMITS: [&str; 18] = [
    "$schema",
    "$id",
    "$comment",
    "examples",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "deprecated",
];
/// A schema nested deeper than this is not sent.
const DEEPEST: usize = 32;
/// A schema with more values than this, each reference replaced by its target, is not sent.
const LARGEST: usize = 20_000;

/// Returns the schema as the server accepts it; `None` if it can't be written so, or is not an object's.
pub(super) fn accepted_schema(schema: &Json) -> Option<Value> {
    let schema = schema.to_value();
    if schema["type"] != "object" || is_recursive(&schema) {
        return None;
    }
    accepted(&schema, 0)
}

/// Whether the server accepts the schema in some form.
pub(crate) fn is_accepted(schema: &Json) -> bool {
    accepted_schema(schema).is_some()
}

fn accepted(schema: &Value, depth: usize) -> Option<Value> {
    let (schema, true) = (schema.as_object()?, depth < DEEPEST) else { return None };
    let mut kept = Map::new();
    for (keyword, value) in schema {
        let name = keyword.as_str();
        if KEPT.contains(&name) {
            kept.insert(keyword.clone(), value.clone());
        } else if NAMED.contains(&name) {
            let schemas = value.as_object()?.iter();
            let schemas = schemas.map(|(name, schema)| Some((name.clone(), accepted(schema, depth + 1)?)));
            kept.insert(keyword.clone(), Value::Object(schemas.collect::<Option<_>>()?));
        } else if matches!(name, "anyOf" | "oneOf") {
            let schemas = value.as_array()?.iter().map(|schema| accepted(schema, depth + 1));
            kept.insert("anyOf".into(), Value::Array(schemas.collect::<Option<_>>()?));
        } else if name == "items" {
            kept.insert(keyword.clone(), accepted(value, depth + 1)?);
        } else if name == "format" {
            if value.as_str().is_some_and(|format| FORMATS.contains(&format)) {
                kept.insert(keyword.clone(), value.clone());
            }
        } else if name == "additionalProperties" {
            // Objects with any names at all can't be described.
            if value.is_object() || *value == Value::Bool(true) {
                return None;
            }
        } else if !LIMITS.contains(&name) {
            return None;
        }
    }
    if schema.get("type").is_some_and(is_object_type) {
        // Without named properties only the empty object would be left.
        schema.get("properties")?;
        kept.insert("additionalProperties".into(), Value::Bool(false));
    }
    Some(Value::Object(kept))
}

fn is_object_type(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}

/// Whether a definition refers to itself, directly or through others, judged by the length of the chain. References to
/// anything but definitions count too.
fn is_recursive(schema: &Value) -> bool {
    let definition = |reference: &str| {
        let path = reference.strip_prefix('#')?;
        (path.starts_with("/$defs/") || path.starts_with("/definitions/")).then(|| schema.pointer(path))?
    };
    let mut waiting = vec![(schema, 0)];
    let mut seen = 0;
    while let Some((value, followed)) = waiting.pop() {
        seen += 1;
        if seen > LARGEST {
            return true;
        }
        match value {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                    match definition(reference) {
                        Some(target) if followed < DEEPEST => waiting.push((target, followed + 1)),
                        _ => return true,
                    }
                }
                waiting.extend(fields.values().map(|value| (value, followed)));
            }
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, followed))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_vocab::Json;

    use super::accepted_schema;

    fn accepted(schema: &Value) -> Option<Value> {
        accepted_schema(&Json::from(schema))
    }

    // proves L10
    #[test]
    fn limits_are_left_out_and_objects_are_closed() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "count": {"type": "integer", "format": "uint32", "minimum": 0},
                "when": {"type": "string", "format": "date-time", "minLength": 1},
                "state": {"oneOf": [{"const": "open"}, {"type": "null"}]},
                "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "maxItems": 3},
            },
            "required": ["count"],
            "$defs": {"item": {"type": "object", "properties": {"name": {"type": "string"}}}},
        });
        let sent = json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer"},
                "when": {"type": "string", "format": "date-time"},
                "state": {"anyOf": [{"const": "open"}, {"type": "null"}]},
                "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
            },
            "required": ["count"],
            "additionalProperties": false,
            "$defs": {"item": {
                "type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": false,
            }},
        });
        assert_eq!(accepted(&schema), Some(sent));
    }

    #[test]
    fn a_shape_that_the_server_does_not_know_is_not_sent() {
        let of = |field: Value| json!({"type": "object", "properties": {"x": field}});
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}});
        for schema in [
            json!({"type": "array"}),
            json!({"type": "object"}),
            json!({"anyOf": []}),
            of(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            of(json!(true)),
            of(json!({"not": {"type": "string"}})),
            of(json!({"$ref": "https://elsewhere.test/schema"})),
            of(json!({"$ref": "#"})),
            json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}),
        ] {
            assert_eq!(accepted(&schema), None, "{schema}");
        }
    }
}
