//! How a model is reached.

use super::stream::AnswerLimits;
use crate::Secret;

/// A model behind an OpenAI-compatible server.
#[derive(Clone, Debug)]
pub struct OpenAiConfig {
    /// Where the API begins, e.g. `http://localhost:11434/v1`.
    pub base_url: String,
    /// Sent to that address and nowhere else.
    pub api_key: Option<Secret>,
    /// The model's id on the wire.
    pub model: String,
    /// The name of the length limit.
    pub length_field: LengthField,
    /// Whether the model gets its earlier reasoning back.
    pub return_reasoning: ReasoningReturn,
    /// When the server is told the schema an answer must fit.
    pub response_format: ResponseFormat,
    /// How much of an answer is kept.
    pub limits: AnswerLimits,
    /// How long an answer that does not stream may take, in milliseconds.
    pub whole_wait_ms: u64,
    /// How long a server may keep a call waiting with comments and the like, in milliseconds. Where
    /// silence is borne for longer than this, so are they.
    pub keep_alive_ms: u64,
}

/// The name of the length limit on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthField {
    /// `max_tokens`, which nearly all servers know.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's newer models insist on.
    MaxCompletionTokens,
}

/// Whether a model gets its earlier reasoning back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningReturn {
    /// It does not.
    Never,
    /// As the field `reasoning_content` of its messages.
    Field,
}

/// When a server is told the schema an answer must fit (L10), as `response_format`. The model is told
/// in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFormat {
    /// In every turn.
    Always,
    /// Where no tool may be called: many servers hold the whole reply to the schema, and then the
    /// model can't call any.
    WithoutTools,
    /// Never: it would be refused.
    Never,
}

/// How the names of models begin that think before they speak, behind what stands before a slash, and what stands in
/// them.
const THINKERS: [&str; 8] = ["o1", "o3", "o4", "gpt-5", "gpt-oss", "deepseek-r", "qwq", "magistral"];
const THINKING: [&str; 2] = ["think", "reason"];

impl OpenAiConfig {
    /// Whether the model thinks before it speaks, by its name: many servers say nothing while it does.
    pub(super) fn thinks(&self) -> bool {
        let name = self.model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        THINKERS.iter().any(|start| name.starts_with(start)) || THINKING.iter().any(|part| name.contains(part))
    }

    /// The usual settings for `model` at `base_url`. OpenAI's own server gets `max_completion_tokens`
    /// and keeps tools and schemas apart; DeepSeek's gets reasoning back, for its thinking models insist
    /// on it in a tool loop, and takes no schema.
    #[must_use]
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let at = |host: &str| {
            let (_, rest) = base_url.split_once("://").unwrap_or_default();
            rest.split(['/', ':']).next().is_some_and(|found| found.eq_ignore_ascii_case(host))
        };
        let length_field = if at("api.openai.com") { LengthField::MaxCompletionTokens } else { LengthField::MaxTokens };
        let return_reasoning = if at("api.deepseek.com") { ReasoningReturn::Field } else { ReasoningReturn::Never };
        let response_format = if at("api.openai.com") {
            ResponseFormat::Always
        } else if at("api.deepseek.com") {
            ResponseFormat::Never
        } else {
            ResponseFormat::WithoutTools
        };
        Self {
            base_url,
            api_key: None,
            model: model.into(),
            length_field,
            return_reasoning,
            response_format,
            limits: AnswerLimits::default(),
            whole_wait_ms: 600_000,
            keep_alive_ms: 300_000,
        }
    }
}
