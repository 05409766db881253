//! JSON Schemas of Rust types, for models.

use std::any::TypeId;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use windlass_vocab::Json;

/// Returns the complete schema of a type.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value()
}

/// Returns the schema of a tool's arguments: an object, without the type's title and description.
pub(crate) fn schema_of_arguments<T: JsonSchema + 'static>() -> Json {
    if is_nothing::<T>() {
        return Json::from(&json!({"type": "object", "properties": {}, "additionalProperties": false}));
    }
    let mut schema = schema_of::<T>();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
    }
    Json::from(&schema)
}

/// Parses arguments into their type. They were checked against the schema before; this finds what it can't express.
pub(crate) fn read_arguments<T: DeserializeOwned + 'static>(arguments: Value) -> Result<T, String> {
    let arguments = if is_nothing::<T>() { Value::Null } else { arguments };
    serde_json::from_value(arguments).map_err(|error| format!("The arguments don't fit: {error}."))
}

/// Whether the tool takes no arguments: its type is `()`, which does not parse from a JSON object.
fn is_nothing<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<()>()
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::{read_arguments, schema_of_arguments};

    /// Not for the schema.
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct SampleMove {
        /// Where to.
        to: String,
        steps: Option<u8>,
    }

    // proves W1
    #[test]
    fn a_type_gives_the_schema_of_its_arguments() {
        assert_eq!(
            schema_of_arguments::<SampleMove>().to_value(),
            json!({
                "type": "object",
                "properties": {
                    "to": {"type": "string", "description": "Where to."},
                    "steps": {"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255}
                },
                "required": ["to"]
            })
        );
        assert_eq!(read_arguments::<SampleMove>(json!({"to": "a"})), Ok(SampleMove { to: "a".into(), steps: None }));
        assert!(read_arguments::<SampleMove>(json!({})).unwrap_err().contains("`to`"));
    }

    // proves W1
    #[test]
    fn a_tool_without_arguments_takes_an_empty_object() {
        assert_eq!(schema_of_arguments::<()>().to_value()["type"], "object");
        assert_eq!(read_arguments::<()>(json!({})), Ok(()));
    }
}
