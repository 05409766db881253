//! The providers of models that are known by name, one row each, and the environment variables that say which model is
//! meant. All of them speak Chat Completions. The library and every door resolve names by this table.

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
    /// What stands before the colon in the name of one of its models. Without one, its models are named by its address.
    pub prefix: Option<&'static str>,
    /// Its address up to the version.
    pub base_url: &'static str,
    /// The variable that gives another address for it.
    pub address_variable: Option<AddressVariable>,
    /// The variable that holds its key.
    pub key_variable: Option<&'static str>,
    /// How its keys begin; no two providers share a beginning.
    pub key_prefixes: &'static [&'static str],
    /// Its model when none is named.
    pub unnamed_model: UnnamedModel,
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

/// OpenAI, or where its variable says.
pub static OPENAI: ModelProvider = ModelProvider {
    prefix: Some("openai"),
    address_variable: Some(AddressVariable { name: "OPENAI_BASE_URL", form: AddressForm::BaseUrl }),
    key_variable: Some("OPENAI_API_KEY"),
    // Every account has this one, it calls tools well and costs little.
    unnamed_model: UnnamedModel::Named("gpt-4.1-mini"),
    ..key_only("OpenAI", &["sk-proj-", "sk-svcacct-", "sk-admin-"], "https://api.openai.com/v1")
};

/// Ollama on this machine, or where its variable says.
pub static OLLAMA: ModelProvider = ModelProvider {
    prefix: Some("ollama"),
    address_variable: Some(AddressVariable { name: "OLLAMA_HOST", form: AddressForm::Host { port: 11434 } }),
    unnamed_model: UnnamedModel::FirstListed,
    ..key_only("Ollama", &[], "http://127.0.0.1:11434/v1")
};

static ANTHROPIC: ModelProvider = key_only("Anthropic", &["sk-ant-"], "https://api.anthropic.com/v1");
static OPENROUTER: ModelProvider = key_only("OpenRouter", &["sk-or-"], "https://openrouter.ai/api/v1");
static GROQ: ModelProvider = key_only("Groq", &["gsk_"], "https://api.groq.com/openai/v1");
static GOOGLE: ModelProvider = key_only("Google", &["AIza"], "https://generativelanguage.googleapis.com/v1beta/openai");
static XAI: ModelProvider = key_only("xAI", &["xai-"], "https://api.x.ai/v1");
static CEREBRAS: ModelProvider = key_only("Cerebras", &["csk-"], "https://api.cerebras.ai/v1");
static NVIDIA: ModelProvider = key_only("NVIDIA", &["nvapi-"], "https://integrate.api.nvidia.com/v1");
static PERPLEXITY: ModelProvider = key_only("Perplexity", &["pplx-"], "https://api.perplexity.ai");
static HUGGING_FACE: ModelProvider = key_only("Hugging Face", &["hf_"], "https://router.huggingface.co/v1");

/// All providers. Where several are set up in the environment, the first counts.
pub static PROVIDERS: [&ModelProvider; 11] =
    [&OPENAI, &OLLAMA, &ANTHROPIC, &OPENROUTER, &GROQ, &GOOGLE, &XAI, &CEREBRAS, &NVIDIA, &PERPLEXITY, &HUGGING_FACE];

/// Returns a provider that is recognized by its keys and its address, and has no variables or model names of its own.
const fn key_only(name: &'static str, key_prefixes: &'static [&'static str], base_url: &'static str) -> ModelProvider {
    ModelProvider {
        name,
        prefix: None,
        base_url,
        address_variable: None,
        key_variable: None,
        key_prefixes,
        unnamed_model: UnnamedModel::OnlyListed,
    }
}

impl ModelProvider {
    /// The variables that may hold the key for this provider; the first that is set counts.
    pub fn key_variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        [Some(KEY_VARIABLE), self.key_variable].into_iter().flatten()
    }
}

/// Returns every variable of this table that holds a key.
pub(crate) fn all_key_variables() -> impl Iterator<Item = &'static str> {
    std::iter::once(KEY_VARIABLE).chain(PROVIDERS.iter().filter_map(|provider| provider.key_variable))
}

/// Returns every variable of this table.
pub(crate) fn all_variables() -> impl Iterator<Item = &'static str> {
    let addresses = PROVIDERS.iter().filter_map(|provider| Some(provider.address_variable?.name));
    MODEL_VARIABLES.into_iter().chain([ADDRESS_VARIABLE]).chain(addresses).chain(all_key_variables())
}

/// Returns the variable that gives the address when a model's name does not, and the provider it is for. `is_set` says
/// whether a variable is set. A provider whose key is set is meant before those below it in the table.
pub fn address_in_environment(is_set: impl Fn(&str) -> bool) -> Option<(AddressVariable, &'static ModelProvider)> {
    if is_set(ADDRESS_VARIABLE) {
        return Some((AddressVariable { name: ADDRESS_VARIABLE, form: AddressForm::BaseUrl }, &OPENAI));
    }
    for provider in PROVIDERS {
        if let Some(variable) = provider.address_variable.filter(|variable| is_set(variable.name)) {
            return Some((variable, provider));
        }
        if provider.key_variable.is_some_and(&is_set) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{PROVIDERS, address_in_environment};

    #[test]
    fn no_two_providers_share_a_name_a_prefix_or_a_variable() {
        let mut seen = std::collections::BTreeSet::new();
        for provider in PROVIDERS {
            let variable = provider.address_variable.map(|variable| variable.name);
            let names = [Some(provider.name), provider.prefix, provider.key_variable, variable];
            for name in names.into_iter().flatten().chain(provider.key_prefixes.iter().copied()) {
                assert!(seen.insert(name), "{name}");
            }
        }
    }

    #[test]
    fn the_first_provider_that_is_set_up_gives_the_address() {
        for (set, variable) in [
            (&["WINDLASS_BASE_URL", "OPENAI_BASE_URL"][..], Some("WINDLASS_BASE_URL")),
            (&["OPENAI_BASE_URL", "OLLAMA_HOST"], Some("OPENAI_BASE_URL")),
            (&["OLLAMA_HOST", "WINDLASS_API_KEY"], Some("OLLAMA_HOST")),
            (&["OLLAMA_HOST", "OPENAI_API_KEY"], None),
            (&[], None),
        ] {
            let found = address_in_environment(|name| set.contains(&name));
            assert_eq!(found.map(|(variable, _)| variable.name), variable, "{set:?}");
        }
    }
}
