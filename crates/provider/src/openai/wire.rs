//! The request's wire form: what a message, a tool and the parameters look like on it.

use std::borrow::Cow;

use serde::Serialize;
use windlass_vocab::{
    CallId, CallInHistory, Json, MaxTokens, Message, OutputSpec, Part, Reasoning, ToolSpec, TurnMode,
};

use super::config::{LengthField, OpenAiConfig, ReasoningReturn, ResponseFormat};
use crate::{Delivery, ModelRequest};

/// A message.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "str::is_empty")]
        reasoning_content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: &'a str,
    },
}

#[derive(Serialize)]
pub(super) struct WireCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
}

impl<'a> WireMessage<'a> {
    pub(super) fn of(message: &'a Message, reasoning: ReasoningReturn) -> Self {
        match message {
            Message::User { text } => Self::User { content: text },
            Message::Assistant { parts, calls } => {
                let words = joined(parts, |part| match part {
                    Part::Text { text } => Some(text),
                    Part::Thinking { .. } | Part::Call { .. } => None,
                });
                let thoughts = joined(parts, |part| match (reasoning, part) {
                    (ReasoningReturn::Field, Part::Thinking { text, .. }) => Some(text),
                    (ReasoningReturn::Never, _) | (_, Part::Text { .. } | Part::Call { .. }) => None,
                });
                Self::Assistant {
                    // Null is for calls alone; servers refuse a message that has neither.
                    content: (!words.is_empty() || calls.is_empty()).then_some(words),
                    reasoning_content: thoughts,
                    tool_calls: calls.iter().map(WireCall::of).collect(),
                }
            }
            Message::Tool { call, provider_id, text, name: _, outcome: _ } => {
                Self::Tool { tool_call_id: wire_id(*call, provider_id.as_deref()), content: text }
            }
        }
    }
}

impl<'a> WireCall<'a> {
    fn of(call: &'a CallInHistory) -> Self {
        Self {
            id: wire_id(call.call, call.provider_id.as_deref()),
            r#type: "function",
            function: WireFunction { name: wire_name(&call.name), arguments: call.arguments.as_str() },
        }
    }
}

/// The texts that `pick` finds, joined; copied only when there are several.
fn joined<'a>(parts: &'a [Part], pick: impl Fn(&'a Part) -> Option<&'a String>) -> Cow<'a, str> {
    let mut texts = parts.iter().filter_map(pick).filter(|text| !text.is_empty());
    let mut all = Cow::Borrowed(texts.next().map_or("", String::as_str));
    for text in texts {
        all.to_mut().push_str(text);
    }
    all
}

/// The id a call has on the wire: the provider's own, else one of ours.
fn wire_id(call: CallId, provider_id: Option<&str>) -> Cow<'_, str> {
    match provider_id {
        Some(id) if !id.is_empty() => Cow::Borrowed(id),
        _ => Cow::Owned(format!("call_{}_{}_{}", call.run, call.turn, call.index)),
    }
}

/// A name the wire takes. A model may have called a tool by a name that is none, and a history that
/// repeats it word for word would be refused for ever after.
fn wire_name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let legal: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(LONGEST).collect();
    Cow::Owned(if legal.is_empty() { "unknown".into() } else { legal })
}

/// A tool on offer.
#[derive(Serialize)]
pub(super) struct WireTool<'a> {
    r#type: &'static str,
    function: WireOffer<'a>,
}

#[derive(Serialize)]
struct WireOffer<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Json,
}

impl<'a> WireTool<'a> {
    pub(super) fn of(spec: &'a ToolSpec) -> Self {
        let function = WireOffer { name: &spec.wire_name, description: &spec.description, parameters: &spec.schema };
        Self { r#type: "function", function }
    }
}

/// What closes the body.
#[derive(Serialize)]
pub(super) struct Parameters<'a> {
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<WireFormat<'a>>,
}

/// The schema the answer must fit.
#[derive(Serialize)]
struct WireFormat<'a> {
    r#type: &'static str,
    json_schema: &'a OutputSpec,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl<'a> Parameters<'a> {
    pub(super) fn of(config: &OpenAiConfig, request: &ModelRequest<'a>) -> Self {
        let streamed = match request.delivery {
            Delivery::Streamed => Some(StreamOptions { include_usage: true }),
            Delivery::Whole => None,
        };
        let limit = match request.max_tokens {
            MaxTokens::Fixed(tokens) => Some(tokens),
            MaxTokens::ModelOwn | MaxTokens::Budget => None,
        };
        let (max_tokens, max_completion_tokens) = match config.length_field {
            LengthField::MaxTokens => (limit, None),
            LengthField::MaxCompletionTokens => (None, limit),
        };
        Self {
            stream: streamed.is_some(),
            stream_options: streamed,
            tool_choice: (!request.context.offer.is_empty()).then(|| tool_choice(request.mode)),
            stop: request.stop,
            temperature: request.temperature_milli.map(|milli| f64::from(milli) / 1000.0),
            max_tokens,
            max_completion_tokens,
            reasoning_effort: effort(request.reasoning),
            response_format: response_format(config.response_format, request),
        }
    }
}

/// Tools that are withheld stay in the body, so that the cached prefix holds.
fn tool_choice(mode: TurnMode) -> &'static str {
    match mode {
        TurnMode::Tools => "auto",
        TurnMode::Talk | TurnMode::WrapUp => "none",
    }
}

/// Only the schema of an object is sent: servers refuse any other.
fn response_format<'a>(when: ResponseFormat, request: &ModelRequest<'a>) -> Option<WireFormat<'a>> {
    let callable = request.mode == TurnMode::Tools && !request.context.offer.is_empty();
    let sent = match when {
        ResponseFormat::Always => true,
        ResponseFormat::WithoutTools => !callable,
        ResponseFormat::Never => false,
    };
    let spec = request.output.filter(|spec| sent && spec.schema.to_value()["type"] == "object")?;
    Some(WireFormat { r#type: "json_schema", json_schema: spec })
}

fn effort(reasoning: Reasoning) -> Option<&'static str> {
    match reasoning {
        Reasoning::ModelOwn | Reasoning::Configured => None,
        Reasoning::Low => Some("low"),
        Reasoning::Medium => Some("medium"),
        Reasoning::High => Some("high"),
    }
}
