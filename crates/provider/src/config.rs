//! The configuration of a model.

use crate::answer::stream::AnswerLimits;
use crate::secret::Secret;

/// A model behind an HTTP server.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// The base URL of the API, e.g. `http://localhost:11434/v1`.
    pub base_url: String,
    /// The key, sent to that address only.
    pub api_key: Option<Secret>,
    /// The model's id on the wire.
    pub model: String,
    /// The protocol of the server.
    pub wire: WireKind,
    /// The wire name of the length limit.
    pub length_field: LengthField,
    /// Whether the model's earlier reasoning is sent back.
    pub return_reasoning: ReasoningReturn,
    /// When the schema of the answer is sent to the server.
    pub response_format: ResponseFormat,
    /// How the model is asked to reason, on the Messages wire.
    pub thinking_control: ThinkingControl,
    /// Whether the model accepts a temperature, on the Messages wire.
    pub sampling_control: SamplingControl,
    /// The most tokens the model writes in one reply, where it is known. The Messages wire requires a limit.
    pub output_limit: Option<u32>,
    /// Limits on the size of an answer.
    pub limits: AnswerLimits,
    /// How long an answer that does not stream may take, in milliseconds.
    pub whole_wait_ms: u64,
    /// How long a server may delay a call with comments and the like, in milliseconds. A longer limit on silence
    /// applies to them too.
    pub keep_alive_ms: u64,
}

/// The protocol of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireKind {
    /// OpenAI Chat Completions, which most servers speak.
    Chat,
    /// Anthropic Messages.
    Messages,
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

/// How a model is asked to reason, where a policy names an effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingControl {
    /// It can't be asked.
    None,
    /// By a number of tokens, as models up to Claude 4.5 are.
    Budget,
    /// By an effort: the model decides itself when and how much it reasons.
    Adaptive,
}

/// Whether a model accepts a temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplingControl {
    /// It does.
    Accepted,
    /// It refuses a request with one.
    Refused,
}

/// Prefixes of the names of reasoning models, after any vendor prefix with a slash, and words within such names.
const THINKERS: [&str; 8] = ["o1", "o3", "o4", "gpt-5", "gpt-oss", "deepseek-r", "qwq", "magistral"];
const THINKING: [&str; 2] = ["think", "reason"];

impl ModelConfig {
    /// Whether the model reasons before it answers, judging by its name: many servers send nothing meanwhile.
    pub(crate) fn thinks(&self) -> bool {
        let name = self.model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        THINKERS.iter().any(|start| name.starts_with(start)) || THINKING.iter().any(|part| name.contains(part))
    }

    /// Returns the default settings for `model` at `base_url`, which speaks Chat Completions. OpenAI's own server gets
    /// `max_completion_tokens`, and no schema together with tools; DeepSeek's gets reasoning back, which its reasoning
    /// models require in a tool loop, and no schema.
    #[must_use]
    pub fn chat(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let config = Self::of(WireKind::Chat, base_url.into(), model.into());
        if config.is_at("api.openai.com") {
            let (length_field, response_format) = (LengthField::MaxCompletionTokens, ResponseFormat::Always);
            Self { length_field, response_format, ..config }
        } else if config.is_at("api.deepseek.com") {
            let (return_reasoning, response_format) = (ReasoningReturn::Field, ResponseFormat::Never);
            Self { return_reasoning, response_format, ..config }
        } else {
            config
        }
    }

    /// Returns the default settings for `model` at `base_url`, which speaks Anthropic Messages: what its current models
    /// accept, and a temperature where the policy has one.
    #[must_use]
    pub fn messages(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let config = Self::of(WireKind::Messages, base_url.into(), model.into());
        Self { response_format: ResponseFormat::Always, thinking_control: ThinkingControl::Adaptive, ..config }
    }

    /// Returns what holds for a server of which nothing is known but its wire.
    fn of(wire: WireKind, base_url: String, model: String) -> Self {
        Self {
            base_url,
            api_key: None,
            model,
            wire,
            length_field: LengthField::MaxTokens,
            return_reasoning: ReasoningReturn::Never,
            response_format: ResponseFormat::WithoutTools,
            thinking_control: ThinkingControl::None,
            sampling_control: SamplingControl::Accepted,
            output_limit: None,
            limits: AnswerLimits::default(),
            whole_wait_ms: 600_000,
            keep_alive_ms: 300_000,
        }
    }

    fn is_at(&self, host: &str) -> bool {
        let (_, rest) = self.base_url.split_once("://").unwrap_or_default();
        rest.split(['/', ':']).next().is_some_and(|found| found.eq_ignore_ascii_case(host))
    }
}
