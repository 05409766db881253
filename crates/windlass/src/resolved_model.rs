//! A model that a door has resolved itself, by its own settings.

use windlass_provider::known_models::best_dialect;
use windlass_provider::known_models::measured::best_measurement;
use windlass_provider::server_kind::ServerKind;
use windlass_provider::{
    Abilities, Ability, DeclaredModel, ModelConfig, ReasoningControl, ResponseFormat, Secret, largest_image,
};
use windlass_vocab::{Dialect, ListPrices, ModelName};

/// A model whose server, id and key are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedModel {
    /// Its name in the chain, in records and events: one id on two servers is two models with two names.
    pub name: ModelName,
    /// What kind of server it is; the wire, the abilities and the prices depend on that.
    pub server: ServerKind,
    /// The server's address up to the version.
    pub base_url: String,
    /// Its id there.
    pub id: String,
    /// The key for the server. It is not added to the known secrets.
    pub key: Option<Secret>,
    /// What is configured in place of the figures in the table of models.
    pub figures: ModelFigures,
    /// What its server declared about it, or a probe found out. It counts less than what is configured, and more than the
    /// table of models.
    pub declared: DeclaredModel,
}

impl ResolvedModel {
    /// What kind of server it is: its answers tell, where its address does not.
    #[must_use]
    pub fn kind(&self) -> ServerKind {
        match (self.server, self.declared.software) {
            (ServerKind::Other, Some(software)) => software.into(),
            (known, _) => known,
        }
    }

    /// Returns the most bytes of an image file that the model is sent; `None` where it is sent none.
    #[must_use]
    pub fn largest_image(&self) -> Option<u64> {
        let config = self.config();
        config.sees_images().then(|| largest_image(config.wire))
    }

    /// Returns the configuration for calls to the model, and for questions about it.
    #[must_use]
    pub fn config(&self) -> ModelConfig {
        let usual = ModelConfig::of(self.kind(), self.base_url.as_str(), self.id.as_str());
        let known = usual.abilities.overridden(&self.declared.overrides());
        ModelConfig { api_key: self.key.clone(), abilities: self.figures.applied_to(known), ..usual }
    }
}

/// Figures and abilities of a model that a person configured. Absent means that its server, a probe or the table of models
/// says it, if anything does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelFigures {
    /// The size of its context window, in tokens.
    pub window: Option<u64>,
    /// The most tokens it can write in one reply.
    pub max_output: Option<u64>,
    /// What its tokens cost.
    pub prices: Option<ListPrices>,
    /// Whether it is sent images.
    pub images: Option<bool>,
    /// Whether it calls tools by the wire's own means.
    pub tools: Option<bool>,
    /// Whether an answer can be held to a JSON schema.
    pub json_schema: Option<bool>,
    /// How its reasoning is controlled.
    pub reasoning: Option<ReasoningControl>,
    /// The dialect it writes calls in, in place of the policy's.
    pub dialect: Option<Dialect>,
    /// How many tools besides the core tools it is offered of a large catalogue; 0 means all.
    pub tools_offered: Option<u16>,
    /// Whether its server is asked to hold its calls to a schema, where they are JSON.
    pub constrained: Option<bool>,
}

impl ModelFigures {
    /// Returns the abilities with what is configured in their place.
    #[must_use]
    pub fn applied_to(self, known: Abilities) -> Abilities {
        let response_format = match (self.json_schema, known.response_format) {
            (Some(false), _) => ResponseFormat::Never,
            (Some(true), ResponseFormat::Never) => ResponseFormat::WithoutTools,
            (Some(true) | None, usual) => usual,
        };
        let silent_reasoning = match self.reasoning {
            None => known.silent_reasoning,
            Some(ReasoningControl::NoReasoning) => Ability::No,
            Some(ReasoningControl::Fixed | ReasoningControl::Levels(_)) => Ability::Yes,
            Some(ReasoningControl::Unknown | ReasoningControl::Switch | ReasoningControl::Budget { .. }) => {
                Ability::Unknown
            }
        };
        Abilities {
            native_calls: self.tools.map_or(known.native_calls, Ability::from),
            images: self.images.map_or(known.images, Ability::from),
            json_schema: self.json_schema.map_or(known.json_schema, Ability::from),
            response_format,
            reasoning: self.reasoning.unwrap_or(known.reasoning),
            silent_reasoning,
            ..known
        }
    }

    /// Returns the dialect in which a model writes calls: the configured one, else the one that was measured or is known to be
    /// best for it.
    #[must_use]
    pub fn dialect_of(self, server: ServerKind, id: &str) -> Option<Dialect> {
        self.dialect.or_else(|| best_dialect(server, id))
    }

    /// Whether its server is asked to hold its calls to a schema: if it is configured, or a measurement shows a gain, and the
    /// server can.
    pub(crate) fn constrains(self, server: ServerKind, config: &ModelConfig) -> bool {
        let measured = || best_measurement(server, &config.model).is_some_and(|best| best.constrained);
        self.constrained.unwrap_or_else(measured) && config.can_hold_calls()
    }
}

#[cfg(test)]
mod tests {
    use windlass_provider::ModelConfig;
    use windlass_provider::server_kind::ServerKind;

    use super::ModelFigures;

    // proves T4: calls are held to a schema only where the entry asks for it and the server can
    #[test]
    fn calls_are_constrained_where_the_entry_says_so_and_the_server_can() {
        let constrains = |server, figures: ModelFigures| {
            let config = ModelConfig::of(server, "http://127.0.0.1:9/v1", "qwen2.5-coder:1.5b");
            let config = ModelConfig { abilities: figures.applied_to(config.abilities), ..config };
            figures.constrains(server, &config)
        };
        let asked = ModelFigures { constrained: Some(true), ..ModelFigures::default() };
        for server in [ServerKind::LlamaCpp, ServerKind::Ollama, ServerKind::LmStudio, ServerKind::Vllm] {
            assert!(constrains(server, asked), "{server:?}");
            assert!(!constrains(server, ModelFigures::default()), "{server:?}: no measurement shows a gain");
        }
        assert!(!constrains(ServerKind::DeepSeek, asked));
        assert!(!constrains(ServerKind::LlamaCpp, ModelFigures { json_schema: Some(false), ..asked }));
    }
}
