//! The wire form of a request's tools and parameters.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use windlass_vocab::{Json, MaxTokens, Message, Reasoning, ToolSpec};

use super::message::starts_with_thinking;
use super::schema::{accepted_schema, is_accepted};
use crate::ability::{EffortLevel, ReasoningControl};
use crate::config::ModelConfig;
use crate::model::{Delivery, ModelRequest};
use crate::output_tool::{AskedOutput, OutputTool, ToolChoice};

/// The length limit where neither the policy nor the configuration has one: this wire requires it.
const DEFAULT_LENGTH: u32 = 8_192;

/// A tool in the request.
#[derive(Serialize)]
pub(super) struct MessagesTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Json,
}

impl<'a> MessagesTool<'a> {
    pub(super) fn of(spec: &'a ToolSpec) -> Self {
        Self { name: &spec.wire_name, description: &spec.description, input_schema: &spec.schema }
    }

    pub(super) fn of_output(tool: &'a OutputTool<'_>) -> Self {
        Self { name: &tool.name, description: tool.description(), input_schema: tool.schema }
    }
}

/// The parameters at the end of the body.
#[derive(Serialize)]
pub(super) struct MessagesParameters<'a> {
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<WireToolChoice>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<WireThinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
}

#[derive(Serialize)]
struct WireToolChoice {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'static, str>>,
}

#[derive(Serialize)]
struct WireThinking {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<&'static str>,
}

#[derive(Serialize)]
struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<SchemaFormat>,
}

#[derive(Serialize)]
struct SchemaFormat {
    r#type: &'static str,
    schema: Value,
}

impl<'a> MessagesParameters<'a> {
    pub(super) fn of(config: &ModelConfig, request: &ModelRequest<'a>) -> Self {
        let max_tokens = length_limit(config, request.max_tokens);
        let effort = AskedEffort::of(request.reasoning);
        let thinking = effort.and_then(|effort| thinking(config, request, effort, max_tokens));
        let effort = config.abilities.reasoning.level(request.reasoning).map(EffortLevel::wire_name);
        let asked = AskedOutput::of(config, request, is_accepted);
        let format = output_format(&asked, config, request);
        let choice = asked.choice(config, request);
        // A model that reasons accepts no other temperature than its own.
        let sampled = thinking.is_none() && config.abilities.temperature.is_not_excluded();
        Self {
            max_tokens,
            stream: request.delivery == Delivery::Streamed,
            tool_choice: choice.map(|choice| tool_choice(choice, thinking.as_ref())),
            stop_sequences: request.stop.iter().copied().filter(|stop| !stop.trim().is_empty()).collect(),
            temperature: request
                .temperature_milli
                .filter(|_| sampled)
                .map(|milli| f64::from(milli.min(1_000)) / 1000.0),
            thinking,
            output_config: (effort.is_some() || format.is_some()).then_some(OutputConfig { effort, format }),
        }
    }
}

fn length_limit(config: &ModelConfig, limit: MaxTokens) -> u32 {
    let most = config.output_limit;
    match limit {
        MaxTokens::Fixed(tokens) => most.map_or(tokens, |most| tokens.min(most)),
        MaxTokens::ModelOwn | MaxTokens::Budget => most.unwrap_or(DEFAULT_LENGTH),
    }
    .max(1)
}

/// A model that reasons can't be made to call a tool.
fn tool_choice(choice: ToolChoice, thinking: Option<&WireThinking>) -> WireToolChoice {
    match choice {
        ToolChoice::None => WireToolChoice { r#type: "none", name: None },
        ToolChoice::Named(name) if thinking.is_none() => WireToolChoice { r#type: "tool", name: Some(name) },
        ToolChoice::Auto | ToolChoice::Named(_) => WireToolChoice { r#type: "auto", name: None },
    }
}

/// An effort that a policy asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskedEffort {
    Low,
    Medium,
    High,
}

impl AskedEffort {
    fn of(reasoning: Reasoning) -> Option<Self> {
        match reasoning {
            Reasoning::ModelOwn | Reasoning::Configured => None,
            Reasoning::Low => Some(Self::Low),
            Reasoning::Medium => Some(Self::Medium),
            Reasoning::High => Some(Self::High),
        }
    }

    /// The tokens to reason with, for models that are given a number.
    fn budget(self) -> u32 {
        match self {
            Self::Low => 2_048,
            Self::Medium => 8_192,
            Self::High => 24_576,
        }
    }
}

fn thinking(
    config: &ModelConfig,
    request: &ModelRequest<'_>,
    effort: AskedEffort,
    max_tokens: u32,
) -> Option<WireThinking> {
    match config.abilities.reasoning {
        ReasoningControl::NoReasoning | ReasoningControl::Fixed | ReasoningControl::Switch => None,
        // Newer models leave the text of their reasoning out unless it is asked for.
        ReasoningControl::Levels(_) | ReasoningControl::Unknown => {
            Some(WireThinking { r#type: "adaptive", budget_tokens: None, display: Some("summarized") })
        }
        ReasoningControl::Budget { least, most } => {
            // Part of the limit is left for the answer.
            let budget = effort.budget().min(max_tokens / 4 * 3).min(most.unwrap_or(u32::MAX));
            (budget >= least && may_think(request)).then_some(WireThinking {
                r#type: "enabled",
                budget_tokens: Some(budget),
                display: None,
            })
        }
    }
}

/// Whether a model with a budget may reason now. In the middle of a loop of calls it may only if the reply with the
/// calls starts with its reasoning: otherwise the server refuses the request.
fn may_think(request: &ModelRequest<'_>) -> bool {
    let last_reply = request.history.iter().rev().find_map(|message| match message {
        Message::Assistant { calls, .. } => Some((message, calls)),
        Message::User { .. } | Message::Tool { .. } => None,
    });
    last_reply.is_none_or(|(message, calls)| calls.is_empty() || starts_with_thinking(message, request.model))
}

/// Returns the schema of the answer, where the server can hold to it.
fn output_format<'a>(
    asked: &AskedOutput<'a>,
    config: &ModelConfig,
    request: &ModelRequest<'a>,
) -> Option<SchemaFormat> {
    let spec = asked.schema(config, request)?;
    Some(SchemaFormat { r#type: "json_schema", schema: accepted_schema(&spec.schema)? })
}
