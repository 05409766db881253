//! A model of a run's chain, as it was configured when the run began. Endpoints and keys are not stored: they are
//! resolved each time by the model's name.

use serde::{Deserialize, Serialize};

use crate::{Dialect, ListPrices, ModelName, ModelSoftware, PromptCache};

/// A model that a run may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunModel {
    /// Its name in the chain. One id on two servers is two models with two names.
    pub name: ModelName,
    /// The address of its server, so that the conversation goes to no other server without consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The size of its context window, in tokens, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The most tokens it can write in one reply, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// What its tokens cost, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<ListPrices>,
    /// How its provider caches what is sent, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<PromptCache>,
    /// The software of its server, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<ModelSoftware>,
    /// Set when it is known to have no native calls: they are written as text from the start (T4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub toolless: bool,
    /// The dialect it writes calls in, in place of the policy's, where its entry or the table of models says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// How many tools besides the core tools it is offered, in place of the policy's number (S4); 0 means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_offered: Option<u16>,
    /// Whether its server is asked to hold its replies to the schema of one call or an answer, where its calls are JSON (T4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constrained: bool,
    /// Whether it is sent images; a model that is not gets a sentence for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub images: bool,
}

impl RunModel {
    /// Returns a model of which nothing but the name is known.
    #[must_use]
    pub fn named(name: impl Into<ModelName>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}
