//! The wire form of an answer: a chunk of a stream, or a whole body. One set of types parses both, since a whole body
//! is a chunk with `message` in place of `delta`.
//!
//! Servers differ in what they omit or write in another type, so every field may be absent or null. Fields that are
//! optional (usage) or vary in type (content, arguments) are kept raw and parsed as far as possible.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use windlass_vocab::Usage;

use super::scan;
use crate::server::report::ErrorReport;

/// A chunk of a stream, or a whole body.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) object: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) model: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) choices: Option<Vec<ChunkChoice<'a>>>,
    #[serde(borrow)]
    pub(super) usage: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<RawJson<'a>>,
}

/// One of the answers; only the first is used.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ChunkChoice<'a> {
    pub(super) index: Option<u32>,
    #[serde(borrow)]
    pub(super) delta: Option<ChoiceDelta<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<ChoiceDelta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<RawJson<'a>>,
}

/// What a chunk adds to the answer.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ChoiceDelta<'a> {
    #[serde(borrow)]
    pub(super) content: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) reasoning: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) refusal: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
    #[serde(borrow)]
    pub(super) function_call: Option<FunctionDelta<'a>>,
}

/// What a chunk adds to a call.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    pub(super) index: Option<u32>,
    #[serde(borrow)]
    pub(super) id: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

/// The function of a call.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub(super) name: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<RawJson<'a>>,
}

/// A string that is borrowed if it has no escapes. (`Option<Cow<str>>` alone would always copy.)
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(super) struct JsonText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// An unparsed JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawJson<'a>(pub(super) &'a str);

impl<'de: 'a, 'a> Deserialize<'de> for RawJson<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(raw.get()))
    }
}

impl<'a> Chunk<'a> {
    /// Parses one JSON text.
    pub(super) fn read(text: &'a str) -> serde_json::Result<Self> {
        let mut chunk = Self::default();
        if scan::read(text, &mut chunk).is_some() {
            return Ok(chunk);
        }
        serde_json::from_str(text)
    }

    /// Returns the error that it reports in place of an answer. `text` is its source.
    pub(super) fn reported(&self, text: &str) -> Option<ErrorReport> {
        match self.error {
            Some(RawJson(error)) => ErrorReport::of(&serde_json::from_str(error).ok()?),
            None if or_empty(self.object.as_ref()) == "error" => ErrorReport::read(text.as_bytes()),
            None => None,
        }
    }
}

/// The text of an optional string; empty when it is absent.
pub(super) fn or_empty<'t>(text: Option<&'t JsonText<'_>>) -> &'t str {
    text.map_or("", |JsonText(text)| text.as_ref())
}

/// Returns the text of a value that should be a string; `None` if it is something else.
pub(super) fn string(raw: Option<RawJson<'_>>) -> Option<Cow<'_, str>> {
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
pub(super) fn arguments(raw: Option<RawJson<'_>>) -> Cow<'_, str> {
    match raw {
        Some(RawJson(raw)) if !raw.starts_with('"') => Cow::Borrowed(raw),
        _ => string(raw).unwrap_or_default(),
    }
}

/// A part of a content list.
#[derive(Deserialize)]
#[serde(default)]
struct ContentPart {
    text: Option<String>,
    thinking: serde_json::Value,
}

impl Default for ContentPart {
    fn default() -> Self {
        Self { text: None, thinking: serde_json::Value::Null }
    }
}

/// Parses content that is a list of parts instead of a string; returns its text and its reasoning.
pub(super) fn content_parts(raw: Option<RawJson<'_>>) -> Option<(String, String)> {
    let RawJson(raw) = raw.filter(|RawJson(raw)| raw.starts_with('['))?;
    let parts: Vec<ContentPart> = serde_json::from_str(raw).ok()?;
    let (mut words, mut thinking) = (String::new(), String::new());
    for part in parts {
        words.push_str(&part.text.unwrap_or_default());
        match part.thinking {
            serde_json::Value::String(text) => thinking.push_str(&text),
            serde_json::Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                thinking.extend(texts);
            }
            _ => {}
        }
    }
    Some((words, thinking))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

/// Returns the token counts, if they are plausible.
pub(super) fn usage(raw: Option<RawJson<'_>>) -> Option<Usage> {
    let RawJson(raw) = raw?;
    let wire: WireUsage = serde_json::from_str::<Option<_>>(raw).ok()??;
    let (input, output) = (wire.prompt_tokens.unwrap_or(0), wire.completion_tokens.unwrap_or(0));
    let cached = wire.prompt_tokens_details.and_then(|details| details.cached_tokens);
    let reasoning = wire.completion_tokens_details.and_then(|details| details.reasoning_tokens);
    (input > 0 || output > 0).then(|| Usage {
        input,
        output,
        cached: cached.or(wire.prompt_cache_hit_tokens).unwrap_or(0),
        reasoning: reasoning.unwrap_or(0),
        calls: 1,
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::{RawJson, string, usage};

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

    #[test]
    fn any_usage_can_be_told() {
        let raw = r#"{"prompt_tokens":18446744073709551615,"completion_tokens":1}"#;
        let told = usage(Some(RawJson(raw))).unwrap();
        assert_eq!((told.input, told.output), (u64::MAX, 1));
        let mut sum = told;
        sum += told;
        assert_eq!((sum.input, sum.output), (u64::MAX, 2));
    }
}
