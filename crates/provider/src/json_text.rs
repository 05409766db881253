//! Fields of an answer that are read as far as possible: strings that are borrowed where they can be, and values that
//! are kept unparsed because servers write them in several types.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A string that is borrowed if it has no escapes. (`Option<Cow<str>>` alone would always copy.)
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct JsonText<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// An unparsed JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawJson<'a>(pub(crate) &'a str);

impl<'de: 'a, 'a> Deserialize<'de> for RawJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(raw.get()))
    }
}

/// The text of an optional string; empty when it is absent.
pub(crate) fn or_empty<'t>(text: Option<&'t JsonText<'_>>) -> &'t str {
    text.map_or("", |JsonText(text)| text.as_ref())
}

/// Returns the text of a value that should be a string; `None` if it is something else.
pub(crate) fn string(raw: Option<RawJson<'_>>) -> Option<Cow<'_, str>> {
    let RawJson(raw) = raw?;
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    serde_json::from_str(raw).ok().map(|MendedString(text)| Cow::Owned(text))
}

/// A string in which a lone surrogate, left by a server that cuts a character in two, becomes a replacement
/// character.
struct MendedString(String);

impl<'de> Deserialize<'de> for MendedString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonTextVisitor;
        impl serde::de::Visitor<'_> for JsonTextVisitor {
            type Value = MendedString;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            /// A lone surrogate arrives as three invalid bytes, the first of them 0xED.
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<MendedString, E> {
                let mut text = String::with_capacity(bytes.len());
                for chunk in bytes.utf8_chunks() {
                    text.push_str(chunk.valid());
                    if chunk.invalid().first() == Some(&0xED) {
                        text.push(char::REPLACEMENT_CHARACTER);
                    }
                }
                Ok(MendedString(text))
            }
        }
        deserializer.deserialize_bytes(JsonTextVisitor)
    }
}

/// Returns the arguments: the text of the string, or the JSON itself if a server does not wrap it.
pub(crate) fn arguments(raw: Option<RawJson<'_>>) -> Cow<'_, str> {
    match raw {
        Some(RawJson(raw)) if !raw.starts_with('"') => Cow::Borrowed(raw),
        _ => string(raw).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::{RawJson, string};

    #[test]
    fn a_string_is_what_serde_makes_of_it() {
        for raw in [
            r#""""#,
            r#""plain é""#,
            r#""\"\\\/\b\f\n\r\t""#,
            r#""a\nb\\\"é\t""#,
            r#""\u00e9\ud83e\ude9d \n""#,
            "null",
            "[\"x\"]",
        ] {
            let expected = serde_json::from_str::<String>(raw).ok();
            assert_eq!(string(Some(RawJson(raw))).map(std::borrow::Cow::into_owned), expected, "{raw}");
        }
    }

    #[test]
    fn half_a_character_costs_no_words() {
        for (raw, text) in [
            (r#""bcd\ud83e""#, "bcd\u{fffd}"),
            (r#""\ude9d efg""#, "\u{fffd} efg"),
            (r#""\n\ud800\ud83e\ude9dé""#, "\n\u{fffd}\u{1fa9d}é"),
        ] {
            assert_eq!(string(Some(RawJson(raw))).as_deref(), Some(text), "{raw}");
        }
    }
}
