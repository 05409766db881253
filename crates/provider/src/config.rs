//! The configuration of a model.

use crate::abilities::Abilities;
use crate::ability::{Ability, ResponseFormat, WireKind};
use crate::answer::stream::AnswerLimits;
use crate::known_models::known_model;
use crate::model::ModelRequest;
use crate::secret::Secret;
use crate::server_kind::ServerKind;

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
    /// What the server and the model can do and accept.
    pub abilities: Abilities,
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

impl ModelConfig {
    /// Returns the settings for `model` on a server of this kind at `base_url`, by the table of models: the preferred
    /// wire, and what the model accepts.
    #[must_use]
    pub fn of(server: ServerKind, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let (base_url, model) = (base_url.into(), model.into());
        let abilities = Abilities::of(server, &model);
        let longest = known_model(server, &model).and_then(|row| row.max_output);
        Self {
            base_url,
            api_key: None,
            wire: abilities.wires.first().copied().unwrap_or(WireKind::Chat),
            abilities,
            output_limit: longest.map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX)),
            model,
            limits: AnswerLimits::default(),
            whole_wait_ms: 600_000,
            keep_alive_ms: 300_000,
        }
    }

    /// Returns the settings for `model` at `base_url`, which speaks Chat Completions.
    #[must_use]
    pub fn chat(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let base_url = base_url.into();
        Self { wire: WireKind::Chat, ..Self::of(ServerKind::at(&base_url), base_url, model) }
    }

    /// Returns the settings for `model` at `base_url`, which speaks Anthropic Messages.
    #[must_use]
    pub fn messages(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self { wire: WireKind::Messages, ..Self::of(ServerKind::Anthropic, base_url, model) }
    }

    /// Returns the settings for `model` at `base_url`, which speaks Responses.
    #[must_use]
    pub fn responses(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let base_url = base_url.into();
        let usual = Self::of(ServerKind::at(&base_url), base_url, model);
        let abilities = Abilities { prompt_cache_key: Ability::Yes, ..usual.abilities };
        Self { wire: WireKind::Responses, abilities, ..usual }
    }

    /// Whether the model is sent images. One of which nobody knows it is not: most servers refuse the whole request.
    #[must_use]
    pub fn sees_images(&self) -> bool {
        self.abilities.images.is_certain()
    }

    /// Whether the server can be asked to hold calls that are text to a schema.
    #[must_use]
    pub fn can_hold_calls(&self) -> bool {
        let takes_schema = self.abilities.response_format != ResponseFormat::Never;
        takes_schema && self.abilities.json_schema.is_not_excluded() && self.wire == WireKind::Chat
    }

    /// Whether the model is known to reason before it answers.
    pub(crate) fn reasons(&self) -> bool {
        self.abilities.silent_reasoning.is_certain()
    }

    /// Returns the key of the session's cache, where it is sent (M6): a server that does not know it may refuse it.
    pub(crate) fn sent_cache_key<'a>(&self, request: &ModelRequest<'a>) -> Option<&'a str> {
        Some(request.cache_key).filter(|key| !key.is_empty() && self.abilities.prompt_cache_key.is_certain())
    }
}
