//! The models of an agent: the chain that its runs try in order, and the source that makes a model by its name.
//!
//! The first model has the id of its server as its name; the others have the names that the program gave them, so that
//! one id on two servers is two models. What the table of models knows of each goes into the record of a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_provider::known_models::{known_model, list_prices};
use windlass_provider::server_kind::ServerKind;
use windlass_provider::{Abilities, HttpClient, HttpConfig, HttpModel, Model, ModelConfig, ResponseFormat, Secret};
use windlass_runtime::Models;
use windlass_vocab::{ModelName, RunModel};

use crate::build_error::BuildError;
use crate::environment::Environment;
use crate::listed_models::ask_for_model;
use crate::model_name::{RequestedModel, ServedModel, ServedModelId, served};

/// The models that a program asked for.
pub(crate) struct RequestedChain {
    /// The first model.
    pub(crate) first: RequestedModel,
    /// The names of the others, in order.
    pub(crate) fallbacks: Vec<String>,
    /// The program's own model, in place of the first.
    pub(crate) custom: Option<(ModelName, Arc<dyn Model>)>,
    /// When the schema of an answer is sent, where the program says so.
    pub(crate) response_format: Option<ResponseFormat>,
}

/// The chain of an agent, and the source of its models.
pub(crate) struct ChosenModels {
    pub(crate) chain: Vec<RunModel>,
    pub(crate) models: Arc<dyn Models>,
}

/// A server, and the key for it.
#[derive(Clone)]
struct ServerAccess {
    kind: ServerKind,
    base_url: String,
    key: Option<Secret>,
    response_format: Option<ResponseFormat>,
}

/// The models of a chain by name, and any other model of the first server by its id there: a resumed run names the
/// model it began with, whatever is configured now.
struct ServedModels {
    first: Option<ServerAccess>,
    client: HttpClient,
    known: Mutex<HashMap<ModelName, Arc<dyn Model>>>,
}

impl Models for ServedModels {
    fn model(&self, name: &ModelName) -> Option<Arc<dyn Model>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = known.get(name) {
            return Some(Arc::clone(model));
        }
        let config = self.first.as_ref()?.config(&name.0);
        let model: Arc<dyn Model> = Arc::new(HttpModel::new(config, &self.client).ok()?);
        known.insert(name.clone(), Arc::clone(&model));
        Some(model)
    }
}

impl ServerAccess {
    /// Returns the configuration of a model of this server.
    fn config(&self, id: &str) -> ModelConfig {
        let usual = ModelConfig::of(self.kind, &self.base_url, id);
        let response_format = self.response_format.unwrap_or(usual.abilities.response_format);
        let abilities = Abilities { response_format, ..usual.abilities };
        ModelConfig { api_key: self.key.clone(), abilities, ..usual }
    }

    /// Returns what is known of a model of this server.
    fn run_model(&self, name: ModelName, id: &str) -> RunModel {
        let row = known_model(self.kind, id);
        RunModel {
            name,
            // An address that contains credentials must not be recorded.
            server: Some(self.base_url.clone()).filter(|url| !url.contains('@')),
            window: row.and_then(|row| row.window),
            max_output: row.and_then(|row| row.max_output),
            prices: list_prices(self.kind, id),
        }
    }
}

impl RequestedChain {
    /// Resolves the models; `known` are further ones that the program made itself.
    pub(crate) fn resolve(
        self,
        known: HashMap<ModelName, Arc<dyn Model>>,
        environment: &Environment,
    ) -> Result<ChosenModels, BuildError> {
        let client = HttpClient::new(HttpConfig::default())?;
        let mut resolved = ResolvedChain { chain: Vec::new(), known, client };
        let first = match self.custom {
            Some((name, model)) => {
                let server = self.first.base_url.filter(|url| !url.contains('@'));
                resolved.chain.push(RunModel { server, ..RunModel::named(name.clone()) });
                resolved.known.insert(name, model);
                None
            }
            None => Some(resolved.add(None, served(self.first, environment)?, self.response_format)?),
        };
        for name in self.fallbacks {
            let request = RequestedModel { name: Some(name.clone()), ..RequestedModel::default() };
            resolved.add(Some(ModelName(name)), served(request, environment)?, self.response_format)?;
        }
        let ResolvedChain { chain, known, client } = resolved;
        let models = ServedModels { first, client, known: Mutex::new(known) };
        Ok(ChosenModels { chain, models: Arc::new(models) })
    }
}

/// A chain that is being resolved.
struct ResolvedChain {
    chain: Vec<RunModel>,
    known: HashMap<ModelName, Arc<dyn Model>>,
    client: HttpClient,
}

impl ResolvedChain {
    /// Adds a model; without a name it is named by its id.
    fn add(
        &mut self,
        name: Option<ModelName>,
        model: ServedModel,
        response_format: Option<ResponseFormat>,
    ) -> Result<ServerAccess, BuildError> {
        let ServedModel { kind, base_url, id, key } = model;
        let server = ServerAccess { kind, base_url, key, response_format };
        let id = match id {
            ServedModelId::Known(id) => id,
            ServedModelId::Listed(rule) => ask_for_model(&server.config(""), rule)?,
        };
        let name = name.unwrap_or_else(|| ModelName(id.clone()));
        if self.chain.iter().any(|earlier| earlier.name == name) {
            return Err(BuildError::ModelTwice { name: name.0 });
        }
        // A model that the program made itself under this name comes first.
        if !self.known.contains_key(&name) {
            let model: Arc<dyn Model> = Arc::new(HttpModel::new(server.config(&id), &self.client)?);
            self.known.insert(name.clone(), model);
        }
        self.chain.push(server.run_model(name, &id));
        Ok(server)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use windlass_vocab::{ModelName, RunModel};

    use super::{ChosenModels, RequestedChain};
    use crate::build_error::BuildError;
    use crate::environment::Environment;
    use crate::model_name::RequestedModel;

    fn chain(first: &str, fallbacks: &[&str]) -> Result<ChosenModels, BuildError> {
        let requested = RequestedChain {
            first: RequestedModel { name: Some(first.to_owned()), ..RequestedModel::default() },
            fallbacks: fallbacks.iter().map(ToString::to_string).collect(),
            custom: None,
            response_format: None,
        };
        requested.resolve(HashMap::new(), &Environment::default())
    }

    // proves M2: one id on two servers is two models
    #[test]
    fn each_model_of_a_chain_has_its_own_name_and_server() {
        let chosen = chain("openai:gpt-x", &["openrouter:gpt-x", "http://127.0.0.1:9/v1#gpt-x"]).unwrap();
        let names: Vec<_> = chosen.chain.iter().map(|model| (model.name.as_str(), model.server.as_deref())).collect();
        assert_eq!(
            names,
            [
                ("gpt-x", Some("https://api.openai.com/v1")),
                ("openrouter:gpt-x", Some("https://openrouter.ai/api/v1")),
                ("http://127.0.0.1:9/v1#gpt-x", Some("http://127.0.0.1:9/v1")),
            ]
        );
        for RunModel { name, .. } in &chosen.chain {
            assert!(chosen.models.model(name).is_some(), "{name:?}");
        }
        assert!(chosen.models.model(&ModelName::from("of-an-older-run")).is_some(), "an id of the first server");
    }

    #[test]
    fn a_chain_that_names_a_model_twice_is_refused() {
        for (first, fallbacks) in [("openai:a", &["ollama:b", "ollama:b"][..]), ("ollama:b", &["b"])] {
            let refused = chain(first, fallbacks).map(|chosen| chosen.chain);
            assert!(matches!(refused, Err(BuildError::ModelTwice { .. } | BuildError::NoBaseUrl)), "{refused:?}");
        }
    }

    // proves M7: what the table knows is recorded with the run
    #[test]
    fn window_and_prices_of_a_known_model_are_known() {
        let known = &chain("openai:gpt-4.1-mini", &[]).unwrap().chain[0];
        assert!(known.window.is_some() && known.max_output.is_some() && known.prices.is_some(), "{known:?}");
        let unknown = &chain("openai:of-tomorrow", &[]).unwrap().chain[0];
        assert_eq!((unknown.window, unknown.prices), (None, None));
    }
}
