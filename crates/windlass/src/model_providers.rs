//! What is known of a provider of models, and the environment variables that say which model is meant. The rows are in
//! `provider_table.rs`; the library and every door resolve names by them.

use windlass_provider::server_kind::ServerKind;

pub use crate::provider_table::{OLLAMA, OPENAI, PROVIDERS};

/// The variables that name the model; the first that is set counts.
pub const MODEL_VARIABLES: [&str; 2] = ["WINDLASS_MODEL", "OPENAI_MODEL"];

/// The variable with the address of any server. It comes before those of the providers.
pub const ADDRESS_VARIABLE: &str = "WINDLASS_BASE_URL";

/// The variable with the key for whichever server is called. It comes before those of the providers.
pub const KEY_VARIABLE: &str = "WINDLASS_API_KEY";

/// A provider of models.
#[derive(Debug, PartialEq, Eq)]
pub struct ModelProvider {
    /// Its name for people.
    pub name: &'static str,
    /// What stands before the colon in the name of one of its models.
    pub prefix: &'static str,
    /// What people write there too.
    pub other_prefixes: &'static [&'static str],
    /// How the ids of the models that it makes begin.
    pub own_ids: &'static [&'static str],
    /// Which server it is, for the table of models and the abilities of its server.
    pub server: ServerKind,
    /// Its address up to the version.
    pub base_url: &'static str,
    /// The variable that gives another address for it.
    pub address_variable: Option<AddressVariable>,
    /// The variable that holds its key. If it is set, this provider is meant where nothing says otherwise.
    pub key_variable: Option<&'static str>,
    /// A variable that may hold its key, and has other uses: it is read only when the provider is named.
    pub shared_key_variable: Option<&'static str>,
    /// How its keys begin; no two providers share a beginning.
    pub key_prefixes: &'static [&'static str],
    /// Its model when none is named.
    pub unnamed_model: UnnamedModel,
    /// How the tags of a model begin that Ollama has under this provider's prefix: with one, a name is that model's.
    pub tags_of_namesake: &'static [&'static str],
}

/// A variable that holds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressVariable {
    /// The variable.
    pub name: &'static str,
    /// How the address is written in it.
    pub form: AddressForm,
}

/// How an address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressForm {
    /// The whole base URL.
    BaseUrl,
    /// A URL that may lack the version at its end.
    Unversioned,
    /// `host`, `host:port`, `:port` or a URL without the version; this is the usual port.
    Host {
        /// The port where none is written.
        port: u16,
    },
}

/// Which of a server's models is used when none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnnamedModel {
    /// This one.
    Named(&'static str),
    /// The first that the server lists: its owner decided which models it holds.
    FirstListed,
    /// The one that the server lists, if it lists only one.
    OnlyListed,
}

/// What the environment says of the server, when a model's name does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvironmentServer {
    /// The address is in this variable, and the server belongs to this provider.
    Address(AddressVariable, &'static ModelProvider),
    /// There is a key for this provider.
    Keyed(&'static ModelProvider),
}

impl ModelProvider {
    /// The variables that may hold the key for this provider; the first that is set counts.
    pub fn key_variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        [Some(KEY_VARIABLE), self.key_variable, self.shared_key_variable].into_iter().flatten()
    }

    /// Whether it has keys of its own.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.key_variable.is_some() || self.shared_key_variable.is_some()
    }

    /// Whether its models are named so: returns what stands after the prefix and the colon.
    pub(crate) fn id_in<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (prefix, id) = name.split_once(':')?;
        if prefix != self.prefix && !self.other_prefixes.contains(&prefix) {
            return None;
        }
        let is_namesake = self.tags_of_namesake.iter().any(|tag| id.starts_with(tag));
        (!is_namesake).then_some(id)
    }
}

/// Returns every variable of the table that holds a key.
pub(crate) fn all_key_variables() -> impl Iterator<Item = &'static str> {
    let own = PROVIDERS.iter().flat_map(|provider| [provider.key_variable, provider.shared_key_variable]);
    std::iter::once(KEY_VARIABLE).chain(own.flatten())
}

/// Returns every variable of the table.
pub(crate) fn all_variables() -> impl Iterator<Item = &'static str> {
    let addresses = PROVIDERS.iter().filter_map(|provider| Some(provider.address_variable?.name));
    MODEL_VARIABLES.into_iter().chain([ADDRESS_VARIABLE]).chain(addresses).chain(all_key_variables())
}

/// Returns the server that is meant when a model's name has none: the first provider in the table whose address or key
/// is set. `is_set` says whether a variable is set. Our own variable for keys is for whichever server is called, and
/// without an address that is OpenAI: a key for it must not go to another provider whose key happens to be set.
pub fn server_in_environment(is_set: impl Fn(&str) -> bool) -> Option<EnvironmentServer> {
    if is_set(ADDRESS_VARIABLE) {
        let variable = AddressVariable { name: ADDRESS_VARIABLE, form: AddressForm::BaseUrl };
        return Some(EnvironmentServer::Address(variable, &OPENAI));
    }
    let has_own_key = is_set(KEY_VARIABLE);
    for provider in PROVIDERS {
        if let Some(variable) = provider.address_variable.filter(|variable| is_set(variable.name)) {
            return Some(EnvironmentServer::Address(variable, provider));
        }
        let may_choose = !has_own_key || provider == &OPENAI;
        if may_choose && provider.key_variable.is_some_and(&is_set) {
            return Some(EnvironmentServer::Keyed(provider));
        }
    }
    has_own_key.then_some(EnvironmentServer::Keyed(&OPENAI))
}

#[cfg(test)]
mod tests {
    use windlass_provider::abilities::Ability;
    use windlass_provider::known_models::known_model;
    use windlass_provider::server_kind::ServerKind;

    use super::{EnvironmentServer, PROVIDERS, UnnamedModel, server_in_environment};

    #[test]
    fn no_two_providers_share_a_name_a_prefix_or_a_variable() {
        let mut seen = std::collections::BTreeSet::new();
        for provider in PROVIDERS {
            let variable = provider.address_variable.map(|variable| variable.name);
            let variables = [provider.key_variable, provider.shared_key_variable, variable];
            let names = [Some(provider.name), Some(provider.prefix)].into_iter().chain(variables);
            let lists = [provider.key_prefixes, provider.other_prefixes, provider.own_ids];
            let listed = lists.into_iter().flatten().copied().filter(|name| *name != provider.name);
            for name in names.flatten().chain(listed) {
                assert!(seen.insert(name), "{name}");
            }
        }
    }

    #[test]
    fn the_page_about_models_lists_every_provider_as_it_is() {
        let page = include_str!("../../../docs/models.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.contains(":ID`")).collect();
        let expected = PROVIDERS.map(|provider| {
            let key = match (provider.key_variable, provider.shared_key_variable) {
                (Some(variable), _) => format!("`{variable}`"),
                (None, Some(variable)) => format!("only when named: `{variable}`"),
                (None, None) => "–".to_owned(),
            };
            let model = match provider.unnamed_model {
                UnnamedModel::Named(id) => format!("`{id}`"),
                UnnamedModel::FirstListed | UnnamedModel::OnlyListed => "the first it lists".to_owned(),
            };
            format!("| {} | `{}:ID` | {key} | {model} |", provider.name, provider.prefix)
        });
        assert_eq!(rows, expected);
    }

    // proves M2
    #[test]
    fn every_default_model_is_in_the_table_of_models() {
        for provider in PROVIDERS {
            let UnnamedModel::Named(id) = provider.unnamed_model else {
                assert!(provider.server.is_own_software(), "{}", provider.name);
                continue;
            };
            let row = known_model(provider.server, id).unwrap_or_else(|| panic!("{}: {id}", provider.name));
            let calls = row.native_calls == Ability::Yes;
            assert_eq!(calls, provider.server != ServerKind::Perplexity, "{} {id}", provider.name);
        }
    }

    #[test]
    fn every_address_is_known_to_be_its_providers() {
        for provider in PROVIDERS {
            let at = ServerKind::at(provider.base_url);
            let common_port = [ServerKind::LlamaCpp, ServerKind::Vllm].contains(&provider.server);
            assert_eq!(at, if common_port { ServerKind::Other } else { provider.server }, "{}", provider.name);
        }
    }

    // proves X1: a key that is set chooses its own provider only
    #[test]
    fn the_first_provider_that_is_set_up_is_meant() {
        for (set, expected) in [
            (&["WINDLASS_BASE_URL", "OPENAI_BASE_URL"][..], "at WINDLASS_BASE_URL"),
            (&["OPENAI_BASE_URL", "OLLAMA_HOST"], "at OPENAI_BASE_URL"),
            (&["OLLAMA_HOST", "WINDLASS_API_KEY"], "at OLLAMA_HOST"),
            (&["OLLAMA_HOST", "OPENAI_API_KEY"], "OpenAI"),
            (&["OLLAMA_HOST", "MISTRAL_API_KEY"], "Mistral"),
            (&["OLLAMA_HOST", "HF_TOKEN"], "at OLLAMA_HOST"),
            (&["OPENAI_API_KEY", "ANTHROPIC_API_KEY"], "OpenAI"),
            (&["GROQ_API_KEY", "ANTHROPIC_API_KEY"], "Anthropic"),
            (&["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"], "at ANTHROPIC_BASE_URL"),
            (&["ANTHROPIC_API_KEY", "WINDLASS_API_KEY"], "OpenAI"),
            (&["WINDLASS_API_KEY"], "OpenAI"),
            (&["GEMINI_API_KEY"], "Google"),
            (&["GOOGLE_API_KEY"], "none"),
            (&["HF_TOKEN"], "none"),
            (&[], "none"),
        ] {
            let found = server_in_environment(|name| set.contains(&name));
            let found = found.map_or("none".to_owned(), |found| match found {
                EnvironmentServer::Address(variable, _) => format!("at {}", variable.name),
                EnvironmentServer::Keyed(provider) => provider.name.to_owned(),
            });
            assert_eq!(found, expected, "{set:?}");
        }
    }
}
