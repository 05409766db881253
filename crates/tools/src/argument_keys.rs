//! Whether arguments have the keys of a schema: the part of fitting that tells a call from other JSON. Whether their
//! values fit is checked when the call is prepared, where they may be coerced.

use serde_json::Value;
use windlass_vocab::Json;

use crate::arguments;

/// Whether arguments, as a model wrote them, have every key that `schema` requires and none that it does not know. A schema
/// that lists no keys takes all.
pub(crate) fn keys_fit(schema: &Json, written: &str) -> bool {
    let Ok(Value::Object(members)) = arguments::parse(written).value else { return false };
    let schema = schema.to_value();
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !required.iter().filter_map(Value::as_str).all(|key| members.contains_key(key)) {
        return false;
    }
    let takes_others = match schema.get("additionalProperties") {
        Some(others) => *others != Value::Bool(false),
        None => false,
    };
    match schema.get("properties").and_then(Value::as_object) {
        Some(known) if !takes_others => members.keys().all(|key| known.contains_key(key)),
        Some(_) | None => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // proves T4: the keys of its arguments tell a call from other JSON
    #[test]
    fn required_keys_are_present_and_others_are_known() {
        let schema =
            json!({"properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["path"]});
        for (schema, written, fits) in [
            (schema.clone(), r#"{"path": "a"}"#, true),
            (schema.clone(), r#"{"path": 5, "limit": "x"}"#, true),
            (schema.clone(), r#"{'path': 'a',}"#, true),
            (schema.clone(), r#"{"limit": 1}"#, false),
            (schema.clone(), r#"{"path": "a", "colour": "red"}"#, false),
            (schema, r#"["a"]"#, false),
            (json!({"type": "object"}), r#"{"any": 1}"#, true),
            (json!({"properties": {"a": {}}, "additionalProperties": true}), r#"{"b": 1}"#, true),
            (json!({"properties": {}}), "", true),
        ] {
            assert_eq!(keys_fit(&Json::from(&schema), written), fits, "{written} by {schema}");
        }
    }
}
