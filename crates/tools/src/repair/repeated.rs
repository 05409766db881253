//! Finds a key that occurs twice in an object. A JSON parser silently keeps the last value and drops the others.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns the first key that occurs twice in one object of well-formed JSON.
pub(crate) fn repeated_key(json: &str) -> Option<String> {
    let mut found = None;
    // Ignore malformed JSON: the caller's parser reports it.
    let _ = RepeatedKeyWalk { found: &mut found }.deserialize(&mut serde_json::Deserializer::from_str(json));
    found
}

/// Walks through a value, and stops at a repeated key.
struct RepeatedKeyWalk<'f> {
    found: &'f mut Option<String>,
}

impl<'de> DeserializeSeed<'de> for RepeatedKeyWalk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RepeatedKeyWalk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if keys.contains(&key) {
                *self.found = Some(key);
                return Err(A::Error::custom("a key is given twice"));
            }
            keys.insert(key);
            members.next_value_seed(RepeatedKeyWalk { found: self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(RepeatedKeyWalk { found: self.found })?.is_some() {}
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::repeated_key;

    // proves T3
    #[test]
    fn a_key_given_twice_is_found_wherever_it_is() {
        for json in [
            r#"{"k": 1, "k": 1}"#,
            r#"{"a": [1.5, null, {"k": "x", "b": true, "k": -1}]}"#,
            r#"{"k": {}, "\u006b": 2}"#,
        ] {
            assert_eq!(repeated_key(json).as_deref(), Some("k"), "{json}");
        }
        for json in [r#"{"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 2}]}"#, "[]", "1", "{\"a\": "] {
            assert_eq!(repeated_key(json), None, "{json}");
        }
    }
}
