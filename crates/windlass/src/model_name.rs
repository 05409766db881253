//! Resolves the name of a model to its server's address, its id there and the key. Every door takes the same names:
//! [`NamedModel::parse`] says what one means.
//!
//! A key is sent only where its owner meant it to go: that of a provider to the provider or to the address that the
//! environment gives for it, never to an address in a name or in the code.

use windlass_provider::Secret;

use crate::build_error::BuildError;
use crate::environment::Environment;
use crate::listed_models::ListedRule;
use crate::model_providers::{
    KEY_VARIABLE, MODEL_VARIABLES, ModelProvider, OPENAI, PROVIDERS, UnnamedModel, address_in_environment,
};

/// What the name of a model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedModel<'n> {
    /// The server.
    pub server: NamedServer<'n>,
    /// The model's id there, where the name contains one.
    pub id: Option<&'n str>,
}

/// The server in a model's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedServer<'n> {
    /// The server at this address: `http://127.0.0.1:8080/v1`, `https://llm.example/v1#big`.
    Address(&'n str),
    /// The server of this provider: `ollama:qwen3`.
    Provider(&'static ModelProvider),
    /// None: the name is the id alone.
    Unnamed,
}

impl<'n> NamedModel<'n> {
    /// Parses a name. Where the server's address is given beside the name, the name is the server's own id, whatever it
    /// looks like: don't parse it.
    #[must_use]
    pub fn parse(name: &'n str) -> Self {
        let text = |id: &'n str| Some(id).filter(|id| !id.trim().is_empty());
        if name.starts_with("http://") || name.starts_with("https://") {
            let (address, id) = name.split_once('#').unwrap_or((name, ""));
            return Self { server: NamedServer::Address(address), id: text(id) };
        }
        let of = |provider: &&'static ModelProvider| {
            Some((*provider, name.strip_prefix(provider.prefix?)?.strip_prefix(':')?))
        };
        match PROVIDERS.iter().find_map(of) {
            Some((provider, id)) => Self { server: NamedServer::Provider(provider), id: text(id) },
            None => Self { server: NamedServer::Unnamed, id: text(name) },
        }
    }
}

/// A model on a server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServedModel {
    pub(crate) base_url: String,
    pub(crate) id: ServedModelId,
    pub(crate) key: Option<Secret>,
}

/// A model's id on its server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServedModelId {
    /// It is known.
    Known(String),
    /// None is named: the server is asked for its models.
    Listed(ListedRule),
}

/// The program's own settings for its model.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestedModel {
    pub(crate) name: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) key: Option<Secret>,
}

/// Resolves the requested model.
pub(crate) fn served(request: RequestedModel, environment: &Environment) -> Result<ServedModel, BuildError> {
    let RequestedModel { name, base_url, key } = request;
    let name = name.or_else(|| environment.first(MODEL_VARIABLES).map(str::to_owned));
    let served = |base_url: String, id: Option<&str>, unnamed: UnnamedModel, from_environment: Option<&str>| {
        let id = match (id, unnamed) {
            (Some(id), _) | (None, UnnamedModel::Named(id)) => ServedModelId::Known(id.to_owned()),
            (None, UnnamedModel::FirstListed) => ServedModelId::Listed(ListedRule::First),
            (None, UnnamedModel::OnlyListed) => ServedModelId::Listed(ListedRule::Only),
        };
        ServedModel { base_url, id, key: key.clone().or_else(|| from_environment.map(Secret::new)) }
    };
    let own_key = environment.get(KEY_VARIABLE);
    if let Some(base_url) = base_url {
        return Ok(served(base_url, name.as_deref(), UnnamedModel::OnlyListed, own_key));
    }
    let named = name.as_deref().map(NamedModel::parse);
    let id = named.and_then(|named| named.id);
    match named.map_or(NamedServer::Unnamed, |named| named.server) {
        NamedServer::Address(address) => Ok(served(address.to_owned(), id, UnnamedModel::OnlyListed, own_key)),
        NamedServer::Provider(provider) => {
            let key = environment.first(provider.key_variables());
            Ok(match environment.address_of(provider)? {
                Some(address) => served(address, id, unnamed_elsewhere(provider), key),
                None => served(provider.base_url.to_owned(), id, provider.unnamed_model, key),
            })
        }
        NamedServer::Unnamed => {
            if let Some((variable, provider)) = address_in_environment(|name| environment.get(name).is_some()) {
                let address = environment.address_in(variable)?.unwrap_or_default();
                let key = environment.first(provider.key_variables());
                return Ok(served(address, id, unnamed_elsewhere(provider), key));
            }
            match environment.first(OPENAI.key_variables()) {
                Some(key) => Ok(served(OPENAI.base_url.to_owned(), id, OPENAI.unnamed_model, Some(key))),
                None if id.is_none() => Err(BuildError::NoModel),
                None => Err(BuildError::NoBaseUrl),
            }
        }
    }
}

/// Returns which model is used at another address that the environment gives for a provider, when none is named: the model
/// of the provider's own server need not be there.
#[must_use]
pub fn unnamed_elsewhere(provider: &ModelProvider) -> UnnamedModel {
    match provider.unnamed_model {
        UnnamedModel::Named(_) => UnnamedModel::OnlyListed,
        listed @ (UnnamedModel::FirstListed | UnnamedModel::OnlyListed) => listed,
    }
}

#[cfg(test)]
mod tests {
    use windlass_provider::Secret;

    use super::{NamedModel, NamedServer, RequestedModel, ServedModelId, served};
    use crate::environment::Environment;

    const KEY: (&str, &str) = ("OPENAI_API_KEY", "of-openai");

    fn named(name: &str) -> RequestedModel {
        RequestedModel { name: Some(name.to_owned()), ..RequestedModel::default() }
    }

    /// Returns the address, the id and the key of the resolved model.
    fn resolved(request: RequestedModel, variables: &[(&'static str, &str)]) -> (String, String, Option<String>) {
        let model = served(request, &Environment::of(variables)).unwrap();
        let id = match model.id {
            ServedModelId::Known(id) => id,
            ServedModelId::Listed(listed) => format!("{listed:?}"),
        };
        (model.base_url, id, model.key.map(|key| key.expose().to_owned()))
    }

    #[test]
    fn a_name_says_the_server_and_the_id() {
        for (name, address, id) in [
            ("ollama:qwen3:8b", "http://127.0.0.1:11434/v1", "qwen3:8b"),
            ("ollama:", "http://127.0.0.1:11434/v1", "First"),
            ("openai:gpt-x", "https://api.openai.com/v1", "gpt-x"),
            ("openai:", "https://api.openai.com/v1", "gpt-4.1-mini"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1", "Only"),
            ("https://llm.example/v1#big", "https://llm.example/v1", "big"),
        ] {
            assert_eq!(resolved(named(name), &[]), (address.to_owned(), id.to_owned(), None), "{name}");
        }
        let request = RequestedModel { base_url: Some("http://h/v1".into()), ..named("openai:x") };
        assert_eq!(resolved(request, &[KEY]).1, "openai:x", "the id as that server knows it");
        for bare in ["qwen3:8b", "openai/gpt-x", "openai"] {
            assert_eq!(NamedModel::parse(bare), NamedModel { server: NamedServer::Unnamed, id: Some(bare) });
        }
    }

    // proves X1
    #[test]
    fn the_key_for_openai_goes_to_openai_and_where_the_environment_says() {
        let key = |name: &str, variables: &[(&'static str, &str)]| resolved(named(name), variables).2;
        for name in ["openai:gpt-x", "gpt-x"] {
            assert_eq!(key(name, &[KEY]).as_deref(), Some("of-openai"), "{name}");
        }
        for name in ["ollama:qwen3", "http://llm.example/v1", "https://llm.example/v1#x"] {
            assert_eq!(key(name, &[KEY]), None, "{name}");
            assert_eq!(key(name, &[KEY, ("WINDLASS_API_KEY", "own")]).as_deref(), Some("own"), "{name}");
        }
        for name in ["gpt-x", "openai:gpt-x"] {
            let model = resolved(named(name), &[KEY, ("OPENAI_BASE_URL", "https://proxy/v1")]);
            assert_eq!(model, ("https://proxy/v1".into(), "gpt-x".into(), Some("of-openai".into())));
        }
        let given = RequestedModel { key: Some(Secret::new("given")), ..named("openai:gpt-x") };
        assert_eq!(resolved(given, &[KEY]).2.as_deref(), Some("given"));
    }

    #[test]
    fn a_bare_id_is_of_the_server_the_environment_names() {
        let ollama = ("OLLAMA_HOST", "0.0.0.0");
        assert_eq!(resolved(named("qwen3"), &[ollama]).0, "http://127.0.0.1:11434/v1");
        assert_eq!(resolved(named("gpt-x"), &[ollama, KEY]).0, "https://api.openai.com/v1");
        assert_eq!(resolved(named("m"), &[ollama, KEY, ("WINDLASS_BASE_URL", "http://ours/v1")]).0, "http://ours/v1");
        assert!(served(named("m"), &Environment::default()).is_err());
        assert!(served(RequestedModel::default(), &Environment::default()).is_err());
        assert!(served(named("ollama:x"), &Environment::of(&[("OLLAMA_HOST", "a b")])).is_err());
    }

    // proves W1: where only a key or an address is set, a model is picked
    #[test]
    fn a_key_or_an_address_is_enough() {
        let any = RequestedModel::default;
        assert_eq!(resolved(any(), &[KEY]).1, "gpt-4.1-mini");
        for request in [any(), named("openai:")] {
            let proxy = resolved(request, &[KEY, ("OPENAI_BASE_URL", "https://proxy/v1")]);
            assert_eq!(proxy, ("https://proxy/v1".into(), "Only".into(), Some("of-openai".into())));
        }
        assert_eq!(resolved(any(), &[("OLLAMA_HOST", "gpu")]).1, "First");
    }
}
