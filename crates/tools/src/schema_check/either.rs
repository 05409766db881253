//! Chooses how a schema is checked: most tools' schemas use only plain keywords, and need no compiled one.
//!
//! The crate `jsonschema` compiles the schema of schemas before the first one it is given, which takes 10 ms and half a
//! megabyte. A run whose tools have plain schemas saves both.

use serde_json::Value;

use super::full::FullCheck;
use super::plain::PlainCheck;

/// The draft that the plain keywords are read by.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema, ready to check values.
#[derive(Debug)]
pub(crate) enum SchemaCheck {
    Plain(PlainCheck),
    Full(Box<FullCheck>),
}

impl SchemaCheck {
    /// Takes a schema, or says what is wrong with it.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        if is_of_draft(schema)
            && !refers(schema)
            && let Ok(plain) = PlainCheck::new(schema)
        {
            return Ok(Self::Plain(plain));
        }
        FullCheck::new(schema).map(|full| Self::Full(Box::new(full)))
    }

    pub(crate) fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Plain(check) => check.fits(value),
            Self::Full(check) => check.fits(value),
        }
    }

    /// Returns what is wrong with `value`, one line per fault; `whole` is the name of the value.
    pub(crate) fn faults(&self, value: &Value, whole: &str) -> String {
        match self {
            Self::Plain(check) => check.faults(value, whole),
            Self::Full(check) => check.faults(value, whole),
        }
    }
}

/// Whether the schema names no other draft, in which keywords may mean something else.
fn is_of_draft(schema: &Value) -> bool {
    schema.get("$schema").is_none_or(|draft| draft.as_str() == Some(DRAFT))
}

/// Whether the schema has references. One of a hostile server could lead in circles, which the plain check follows.
fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(words) => words.iter().any(|(word, argument)| word == "$ref" || refers(argument)),
        Value::Array(schemas) => schemas.iter().any(refers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::SchemaCheck;

    fn is_plain(schema: &Value) -> bool {
        matches!(SchemaCheck::new(schema), Ok(SchemaCheck::Plain(_)))
    }

    // proves T3: what the plain check can't judge is left to the full one
    #[test]
    fn only_plain_schemas_are_checked_without_compiling() {
        let path = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        assert!(is_plain(&path));
        assert!(is_plain(&json!({"$schema": super::DRAFT, "type": "object"})));
        for other in [
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
            json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}}),
            json!({"properties": {"a": {"type": "string", "pattern": "^a"}}}),
        ] {
            assert!(SchemaCheck::new(&other).is_ok() && !is_plain(&other), "{other}");
        }
        assert!(SchemaCheck::new(&json!({"type": "nothing"})).is_err());
    }
}
