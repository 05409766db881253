//! The wire form of an answer: the events of a stream, and the response object, which ends a stream or is a whole
//! body.
//!
//! Servers differ in what they omit or write as null, so every field may be absent. Fields that most events do not
//! need are kept raw and parsed when they are.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_vocab::Usage;

use crate::json_text::{JsonText, RawJson, arguments, or_empty, string};
use crate::server::report::ErrorReport;

/// An event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent<'a> {
    #[serde(borrow)]
    r#type: Option<JsonText<'a>>,
    pub(super) output_index: Option<u32>,
    #[serde(borrow)]
    item_id: Option<JsonText<'a>>,
    pub(super) content_index: Option<u32>,
    pub(super) summary_index: Option<u32>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<'a> StreamEvent<'a> {
    /// The kind of the event.
    pub(super) fn kind(&self) -> &str {
        or_empty(self.r#type.as_ref())
    }

    /// Whether it reports an error; a gateway may do so without a kind.
    pub(super) fn is_error(&self) -> bool {
        self.kind() == "error" || (self.kind().is_empty() && self.error.is_some())
    }

    /// The id of the item it is about.
    pub(super) fn item_id(&self) -> &str {
        or_empty(self.item_id.as_ref())
    }

    /// The text it adds.
    pub(super) fn delta(&self) -> Cow<'a, str> {
        text(self.delta)
    }
}

/// An item of the output.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputItem<'a> {
    #[serde(borrow)]
    r#type: Option<JsonText<'a>>,
    #[serde(borrow)]
    id: Option<JsonText<'a>>,
    #[serde(borrow)]
    call_id: Option<JsonText<'a>>,
    #[serde(borrow)]
    name: Option<JsonText<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    phase: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) summary: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) encrypted_content: Option<&'a RawValue>,
}

impl<'a> OutputItem<'a> {
    /// The kind of the item.
    pub(super) fn kind(&self) -> &str {
        or_empty(self.r#type.as_ref())
    }

    /// The item's own id; a call has another one for its result.
    pub(super) fn id(&self) -> &str {
        or_empty(self.id.as_ref())
    }

    /// The id that a call's result must name.
    pub(super) fn call_id(&self) -> &str {
        or_empty(self.call_id.as_ref())
    }

    /// The name of the tool.
    pub(super) fn name(&self) -> &str {
        or_empty(self.name.as_ref())
    }

    /// The arguments of a call.
    pub(super) fn arguments(&self) -> Cow<'a, str> {
        arguments(self.arguments.map(|raw| RawJson(raw.get())))
    }

    /// Whether the model meant a message as its answer or as a remark on the way.
    pub(super) fn phase(&self) -> &str {
        or_empty(self.phase.as_ref())
    }

    /// The parts of a message, or of reasoning in the open.
    pub(super) fn content(&self) -> Vec<OutputContentPart<'a>> {
        parts(self.content)
    }

    /// The parts of the summary of reasoning.
    pub(super) fn summary(&self) -> Vec<OutputContentPart<'a>> {
        parts(self.summary)
    }
}

/// A part of a message, of reasoning, or of its summary.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputContentPart<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
}

impl<'a> OutputContentPart<'a> {
    /// The text; empty in a refusal.
    pub(super) fn text(&self) -> Cow<'a, str> {
        text(self.text)
    }

    /// The refusal, which stands in place of a text.
    pub(super) fn refusal(&self) -> Cow<'a, str> {
        text(self.refusal)
    }
}

/// The response object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseObject<'a> {
    #[serde(borrow)]
    object: Option<JsonText<'a>>,
    #[serde(borrow)]
    status: Option<JsonText<'a>>,
    #[serde(borrow)]
    model: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) output: Option<Vec<OutputItem<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    incomplete_details: Option<IncompleteDetails<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct IncompleteDetails<'a> {
    #[serde(borrow)]
    reason: Option<JsonText<'a>>,
}

impl ResponseObject<'_> {
    /// Whether it is a response, and not some other object.
    pub(super) fn is_response(&self) -> bool {
        or_empty(self.object.as_ref()) == "response" || self.output.is_some()
    }

    /// The state of the response; empty where the server does not say.
    pub(super) fn status(&self) -> &str {
        or_empty(self.status.as_ref())
    }

    /// The model that answered.
    pub(super) fn model(&self) -> Option<String> {
        Some(or_empty(self.model.as_ref())).filter(|model| !model.is_empty()).map(str::to_owned)
    }

    /// Why the answer is not complete; empty where the server does not say.
    pub(super) fn incomplete_reason(&self) -> &str {
        or_empty(self.incomplete_details.as_ref().and_then(|details| details.reason.as_ref()))
    }

    /// The error that the server reports in place of an answer.
    pub(super) fn reported(&self) -> Option<ErrorReport> {
        ErrorReport::of(&serde_json::from_str(self.error?.get()).ok()?)
    }

    /// The token counts, if they are plausible.
    pub(super) fn usage(&self) -> Option<Usage> {
        let wire: ResponseUsage = serde_json::from_str(self.usage?.get()).ok()?;
        let (input, output) = (wire.input_tokens.unwrap_or(0), wire.output_tokens.unwrap_or(0));
        let sent = wire.input_tokens_details.unwrap_or_default();
        let reasoning = wire.output_tokens_details.and_then(|details| details.reasoning_tokens);
        (input > 0 || output > 0).then(|| Usage {
            input,
            output,
            cached: sent.cached_tokens.unwrap_or(0),
            cache_written: sent.cache_write_tokens.unwrap_or(0),
            reasoning: reasoning.unwrap_or(0),
            calls: 1,
            ..Usage::default()
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResponseUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

fn text(raw: Option<&RawValue>) -> Cow<'_, str> {
    string(raw.map(|raw| RawJson(raw.get()))).unwrap_or_default()
}

fn parts<'a>(raw: Option<&'a RawValue>) -> Vec<OutputContentPart<'a>> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
