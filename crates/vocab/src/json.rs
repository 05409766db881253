//! JSON text kept as it was written: number forms and key order survive, and nothing is parsed until needed.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON value as text. Always well-formed, and always on one line, because a journal stores each record as one line.
/// Clones share the text: a tool's schema is in every session that offers it.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(Self::NAME, &self.0)
    }
}

/// Replaces line breaks by blanks. In well-formed JSON they occur only between tokens, where a blank means the same.
fn on_one_line(raw: Box<RawValue>) -> Json {
    if !raw.get().bytes().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return Json(raw.into());
    }
    let text = raw.get().replace(['\n', '\r'], " ");
    Json(RawValue::from_string(text).unwrap_or(raw).into())
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(on_one_line)
    }
}

impl Json {
    /// The newtype name by which serializers recognise this type.
    pub(crate) const NAME: &str = "windlass_vocab::Json";

    /// Parses text that must be one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the value as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Returns the parsed value. `Null` only when the text is `null`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or(Value::Null)
    }

    /// Returns an object without members.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::from(&Value::Object(serde_json::Map::new()))
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        // A `Value` has string keys only, so writing it can't fail; null covers the impossible case.
        Self(serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()).into())
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

#[cfg(test)]
mod tests {
    use super::Json;

    // proves J1, J7: whatever a model writes, a record stays on one line
    #[test]
    fn a_value_is_on_one_line_and_otherwise_as_it_was_written() {
        let written = "{\r\n  \"n\": 1.50,\n\t\"text\": \"a\\nb\",\n  \"a\": [\n1 ]\n}\n";
        let json = Json::parse(written).expect("JSON");
        assert_eq!(json.as_str(), "{    \"n\": 1.50, \t\"text\": \"a\\nb\",   \"a\": [ 1 ] }");
        let within: Vec<Json> = serde_json::from_str(&format!("[{written}]")).expect("JSON");
        assert_eq!(within, [json]);
    }
}
