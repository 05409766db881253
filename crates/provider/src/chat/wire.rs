//! The wire form of a request's tools and parameters.

use serde::Serialize;
use windlass_vocab::{Json, MaxTokens, OutputSpec, ToolSpec, TurnMode};

use crate::ability::{EffortLevel, LengthField, ResponseFormat};
use crate::config::ModelConfig;
use crate::model::{Delivery, ModelRequest};

/// A tool in the request.
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

/// The parameters at the end of the body.
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

/// The schema the answer must match.
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
    pub(super) fn of(config: &ModelConfig, request: &ModelRequest<'a>) -> Self {
        let abilities = &config.abilities;
        let streamed = request.delivery == Delivery::Streamed;
        let limit = match request.max_tokens {
            MaxTokens::Fixed(tokens) => Some(tokens),
            MaxTokens::ModelOwn | MaxTokens::Budget => None,
        };
        let (max_tokens, max_completion_tokens) = match abilities.length_field {
            LengthField::MaxTokens => (limit, None),
            LengthField::MaxCompletionTokens => (None, limit),
        };
        Self {
            stream: streamed,
            stream_options: (streamed && abilities.stream_usage_option.is_not_excluded())
                .then_some(StreamOptions { include_usage: true }),
            tool_choice: (!request.context.offer.is_empty()).then(|| tool_choice(request.mode)),
            stop: request.stop,
            temperature: request
                .temperature_milli
                .filter(|_| abilities.temperature.is_not_excluded())
                .map(|milli| f64::from(milli) / 1000.0),
            max_tokens,
            max_completion_tokens,
            reasoning_effort: abilities.reasoning.level(request.reasoning).map(EffortLevel::wire_name),
            response_format: response_format(abilities.response_format, request),
        }
    }
}

/// Withheld tools stay in the body, so that the cached prefix stays valid.
fn tool_choice(mode: TurnMode) -> &'static str {
    match mode {
        TurnMode::Tools => "auto",
        TurnMode::Talk | TurnMode::WrapUp => "none",
    }
}

/// Sends only the schema of an object: servers refuse any other.
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
