//! The wire form of a request's tools and parameters.

use std::borrow::Cow;

use serde::Serialize;
use windlass_vocab::{Json, MaxTokens, OutputSpec, ToolSpec};

use crate::ability::{EffortLevel, LengthField};
use crate::config::ModelConfig;
use crate::model::{Delivery, ModelRequest};
use crate::output_tool::{AskedOutput, OutputTool, ToolChoice, any_schema};

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

    pub(super) fn of_output(tool: &'a OutputTool<'_>) -> Self {
        let function = WireOffer { name: &tool.name, description: tool.description(), parameters: tool.schema };
        Self { r#type: "function", function }
    }
}

/// The choice of tools.
#[derive(Serialize)]
#[serde(untagged)]
enum WireChoice {
    Word(&'static str),
    Named { r#type: &'static str, function: ChosenFunction },
}

#[derive(Serialize)]
struct ChosenFunction {
    name: Cow<'static, str>,
}

impl From<ToolChoice> for WireChoice {
    fn from(choice: ToolChoice) -> Self {
        match choice {
            ToolChoice::Auto => Self::Word("auto"),
            ToolChoice::None => Self::Word("none"),
            ToolChoice::Named(name) => Self::Named { r#type: "function", function: ChosenFunction { name } },
        }
    }
}

/// The parameters at the end of the body.
#[derive(Serialize)]
pub(super) struct Parameters<'a> {
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<WireChoice>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
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
        let asked = AskedOutput::of(config, request, any_schema);
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
            tool_choice: asked.choice(config, request).map(WireChoice::from),
            stop: request.stop,
            temperature: request
                .temperature_milli
                .filter(|_| abilities.temperature.is_not_excluded())
                .map(|milli| f64::from(milli) / 1000.0),
            max_tokens,
            max_completion_tokens,
            reasoning_effort: abilities.reasoning.level(request.reasoning).map(EffortLevel::wire_name),
            response_format: asked
                .schema(config, request)
                .map(|json_schema| WireFormat { r#type: "json_schema", json_schema }),
            prompt_cache_key: config.sent_cache_key(request),
        }
    }
}
