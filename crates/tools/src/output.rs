//! Checks whether a JSON value fits the schema of the requested output (L10), with errors worded so that a model
//! can correct it.

use windlass_vocab::Json;

use crate::schema_check::SchemaCheck;

/// The schema of an output, ready to validate.
#[derive(Debug)]
pub struct OutputSchema(SchemaCheck);

impl OutputSchema {
    /// Compiles a schema; without the feature `json-schema` only the keywords that schemas of Rust types use are
    /// accepted. Validation can't make requests, read files or run patterns without a bound.
    pub fn new(schema: &Json) -> Result<Self, String> {
        SchemaCheck::new(&schema.to_value()).map(Self)
    }

    /// Returns an error that says what is wrong with `output`, if it does not fit.
    pub fn check(&self, output: &Json) -> Result<(), String> {
        let value = output.to_value();
        if self.0.fits(&value) {
            return Ok(());
        }
        Err(format!("It does not fit its schema:\n{}", self.0.faults(&value, "output")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_vocab::Json;

    use super::OutputSchema;

    // proves L10
    #[test]
    fn what_does_not_fit_is_named_by_place() {
        let schema = json!({
            "type": "object",
            "properties": {"title": {"type": "string"}, "pages": {"type": "integer"}},
            "required": ["title", "pages"]
        });
        let schema = OutputSchema::new(&Json::from(&schema)).unwrap();
        assert_eq!(schema.check(&Json::from(&json!({"title": "a", "pages": 1}))), Ok(()));
        let said = schema.check(&Json::from(&json!({"pages": "one"}))).unwrap_err();
        for part in ["/pages", "integer", "\"title\" is a required property", "- output: "] {
            assert!(said.contains(part), "{part} is not in: {said}");
        }
    }

    #[test]
    fn any_kind_of_value_can_be_an_output() {
        let schema = OutputSchema::new(&Json::from(&json!({"type": "array", "items": {"type": "integer"}}))).unwrap();
        assert_eq!(schema.check(&Json::from(&json!([1, 2]))), Ok(()));
        assert!(schema.check(&Json::from(&json!([1, "2"]))).unwrap_err().contains("/1"));
        assert!(OutputSchema::new(&Json::from(&json!({"type": "nonsense"}))).is_err());
    }
}
