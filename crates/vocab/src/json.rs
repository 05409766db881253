//! JSON kept as it was written: number forms and key order survive, nothing is parsed until asked.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON value as text. Always well-formed.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes text that must be one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    /// The value as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value, parsed. `Null` only when it is null.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or(Value::Null)
    }

    /// An object without members.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::from(&Value::Object(serde_json::Map::new()))
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        // A `Value` has string keys only, so writing it can't fail; null stands in for the impossible.
        Self(serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Default for Json {
    fn default() -> Self {
        Self::empty_object()
    }
}
