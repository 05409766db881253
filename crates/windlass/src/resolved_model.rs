//! A model that a door has resolved itself, by its own settings.

use windlass_provider::server_kind::ServerKind;
use windlass_provider::{DeclaredModel, ModelConfig, Secret, largest_image};
use windlass_vocab::{ListPrices, ModelName};

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
        let usual = ModelConfig::of(self.kind(), self.base_url.as_str(), self.id.as_str());
        let config = ModelConfig { abilities: usual.abilities.overridden(&self.declared.overrides()), ..usual };
        let sees = self.figures.images.unwrap_or_else(|| config.sees_images());
        sees.then(|| largest_image(config.wire))
    }
}

/// Figures of a model that a person configured. Absent means that the table of models says it, if anything does.
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
}
