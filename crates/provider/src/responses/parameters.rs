//! The wire form of a request's tools and parameters.

use std::borrow::Cow;

use serde::Serialize;
use windlass_vocab::{Json, MaxTokens, ToolSpec};

use crate::ability::EffortLevel;
use crate::config::ModelConfig;
use crate::model::{Delivery, ModelRequest};
use crate::output_tool::{AskedOutput, OutputTool, ToolChoice, any_schema};

/// A tool in the request. Without `strict` the server would hold the schema to rules that few schemas follow.
#[derive(Serialize)]
pub(super) struct ResponseTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Json,
    strict: bool,
}

impl<'a> ResponseTool<'a> {
    pub(super) fn of(spec: &'a ToolSpec) -> Self {
        Self {
            r#type: "function",
            name: &spec.wire_name,
            description: &spec.description,
            parameters: &spec.schema,
            strict: false,
        }
    }

    pub(super) fn of_output(tool: &'a OutputTool<'_>) -> Self {
        Self {
            r#type: "function",
            name: &tool.name,
            description: tool.description(),
            parameters: tool.schema,
            strict: false,
        }
    }
}

/// The choice of tools.
#[derive(Serialize)]
#[serde(untagged)]
enum ResponseChoice {
    Word(&'static str),
    Named { r#type: &'static str, name: Cow<'static, str> },
}

impl From<ToolChoice> for ResponseChoice {
    fn from(choice: ToolChoice) -> Self {
        match choice {
            ToolChoice::Auto => Self::Word("auto"),
            ToolChoice::None => Self::Word("none"),
            ToolChoice::Named(name) => Self::Named { r#type: "function", name },
        }
    }
}

/// Whether a summary of the reasoning is asked for: it is all that a person can see of hidden reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningSummary {
    /// It is.
    Auto,
    /// It is not: OpenAI gives it only to organizations that it has verified, and refuses the request of others.
    Absent,
}

/// The parameters at the end of the body. Stop sequences are not among them: this protocol has none.
#[derive(Serialize)]
pub(super) struct ResponseParameters<'a> {
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ResponseChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ResponseReasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<WireText<'a>>,
}

#[derive(Serialize)]
struct ResponseReasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct WireText<'a> {
    format: WireTextFormat<'a>,
}

/// The schema the answer must match.
#[derive(Serialize)]
struct WireTextFormat<'a> {
    r#type: &'static str,
    name: &'a str,
    schema: &'a Json,
}

impl<'a> ResponseParameters<'a> {
    pub(super) fn of(config: &ModelConfig, request: &ModelRequest<'a>, summary: ReasoningSummary) -> Self {
        let reasons = config.reasons();
        let asked = AskedOutput::of(config, request, any_schema);
        Self {
            stream: match request.delivery {
                Delivery::Streamed => true,
                Delivery::Whole => false,
            },
            tool_choice: asked.choice(config, request).map(ResponseChoice::from),
            // A reasoning model refuses it.
            temperature: request
                .temperature_milli
                .filter(|_| !reasons && config.abilities.temperature.is_not_excluded())
                .map(|milli| f64::from(milli) / 1000.0),
            max_output_tokens: match request.max_tokens {
                MaxTokens::Fixed(tokens) => Some(tokens),
                MaxTokens::ModelOwn | MaxTokens::Budget => None,
            },
            reasoning: reasons.then(|| ResponseReasoning::of(config, request, summary)).flatten(),
            text: asked.schema(config, request).map(|spec| WireText {
                format: WireTextFormat { r#type: "json_schema", name: &spec.name, schema: &spec.schema },
            }),
        }
    }
}

impl ResponseReasoning {
    fn of(config: &ModelConfig, request: &ModelRequest<'_>, summary: ReasoningSummary) -> Option<Self> {
        let summary = match summary {
            ReasoningSummary::Auto => Some("auto"),
            ReasoningSummary::Absent => None,
        };
        let effort = config.abilities.reasoning.level(request.reasoning).map(EffortLevel::wire_name);
        (effort.is_some() || summary.is_some()).then_some(Self { effort, summary })
    }
}
