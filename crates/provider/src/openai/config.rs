//! The configuration of a model.

use super::stream::AnswerLimits;
use crate::Secret;

/// A model behind an OpenAI-compatible server.
#[derive(Clone, Debug)]
pub struct OpenAiConfig {
    /// The base URL of the API, e.g. `http://localhost:11434/v1`.
    pub base_url: String,
    /// The key, sent to that address only.
    pub api_key: Option<Secret>,
    /// The model's id on the wire.
    pub model: String,
    /// The wire name of the length limit.
    pub length_field: LengthField,
    /// Whether the model's earlier reasoning is sent back.
    pub return_reasoning: ReasoningReturn,
    /// When the schema of the answer is sent to the server.
    pub response_format: ResponseFormat,
    /// Limits on the size of an answer.
    pub limits: AnswerLimits,
    /// How long an answer that does not stream may take, in milliseconds.
    pub whole_wait_ms: u64,
    /// How long a server may delay a call with comments and the like, in milliseconds. A longer limit on silence
    /// applies to them too.
    pub keep_alive_ms: u64,
}

/// The wire name of the length limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthField {
    /// `max_tokens`, which nearly all servers support.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's newer models require.
    MaxCompletionTokens,
}

/// Whether a model's earlier reasoning is sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningReturn {
    /// It is not.
    Never,
    /// As the field `reasoning_content` of its messages.
    Field,
}

/// When the schema of an answer is sent to the server as `response_format` (L10). The model is given the schema in
/// any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFormat {
    /// In every turn.
    Always,
    /// When no tool may be called: many servers apply the schema to the whole reply, and then the model can't call
    /// any.
    WithoutTools,
    /// Never: the server would refuse it.
    Never,
}

/// Prefixes of the names of reasoning models, after any vendor prefix with a slash, and words within such names.
const THINKERS: [&str; 8] = ["o1", "o3", "o4", "gpt-5", "gpt-oss", "deepseek-r", "qwq", "magistral"];
const THINKING: [&str; 2] = ["think", "reason"];

impl OpenAiConfig {
    /// Whether the model reasons before it answers, judging by its name: many servers send nothing meanwhile.
    pub(super) fn thinks(&self) -> bool {
        let name = self.model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        THINKERS.iter().any(|start| name.starts_with(start)) || THINKING.iter().any(|part| name.contains(part))
    }

    /// Returns the default settings for `model` at `base_url`. OpenAI's own server gets `max_completion_tokens`, and
    /// no schema together with tools; DeepSeek's gets reasoning back, which its reasoning models require in a tool
    /// loop, and no schema.
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
