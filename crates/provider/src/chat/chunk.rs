//! The wire form of an answer: a chunk of a stream, or a whole body. One set of types parses both, since a whole body
//! is a chunk with `message` in place of `delta`.
//!
//! Servers differ in what they omit or write in another type, so every field may be absent or null. Fields that are
//! optional (usage) or vary in type (content, arguments) are kept raw and parsed as far as possible.

use serde::Deserialize;
use windlass_vocab::Usage;

use super::scan;
use crate::json_text::{JsonText, RawJson, or_empty};
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
    use super::{RawJson, usage};

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
