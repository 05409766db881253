//! Recognizes the provider of a key by its prefix. A key is not sent to another provider, which would refuse it and
//! also see it (X1). One row of data per provider; unknown keys and addresses are not checked.

use url::{Host, Url};

use super::endpoint::{ApiKey, OPENAI};
use super::error::SettingsError;
use super::origin::Sourced;

struct Provider {
    name: &'static str,
    /// The prefixes of its keys; no two providers share one.
    prefixes: &'static [&'static str],
    /// Its address for this wire format.
    base_url: &'static str,
}

const PROVIDERS: &[Provider] = &[
    Provider { name: "OpenAI", prefixes: &["sk-proj-", "sk-svcacct-", "sk-admin-"], base_url: OPENAI },
    Provider { name: "Anthropic", prefixes: &["sk-ant-"], base_url: "https://api.anthropic.com/v1" },
    Provider { name: "OpenRouter", prefixes: &["sk-or-"], base_url: "https://openrouter.ai/api/v1" },
    Provider { name: "Groq", prefixes: &["gsk_"], base_url: "https://api.groq.com/openai/v1" },
    Provider {
        name: "Google",
        prefixes: &["AIza"],
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
    },
    Provider { name: "xAI", prefixes: &["xai-"], base_url: "https://api.x.ai/v1" },
    Provider { name: "Cerebras", prefixes: &["csk-"], base_url: "https://api.cerebras.ai/v1" },
    Provider { name: "NVIDIA", prefixes: &["nvapi-"], base_url: "https://integrate.api.nvidia.com/v1" },
    Provider { name: "Perplexity", prefixes: &["pplx-"], base_url: "https://api.perplexity.ai" },
    Provider { name: "Hugging Face", prefixes: &["hf_"], base_url: "https://router.huggingface.co/v1" },
];

/// Refuses a key of one provider at the address of another.
pub(super) fn check(base_url: &str, key: &Sourced<ApiKey>) -> Result<(), SettingsError> {
    let (Some(at), Some(of)) = (at(base_url), of(key.value.expose())) else { return Ok(()) };
    if at.name == of.name {
        return Ok(());
    }
    let problem = format!(
        "this is a key for {of}, and {base_url} is {at}. For {of} also set OPENAI_BASE_URL={there} and OPENAI_MODEL to \
         one of its models; for {at} set a key from {at}",
        of = of.name,
        at = at.name,
        there = of.base_url
    );
    Err(SettingsError::wrong(key.origin.clone(), problem))
}

/// Returns the provider at this address.
fn at(base_url: &str) -> Option<&'static Provider> {
    let host = |text: &str| match Url::parse(text).ok()?.host()? {
        Host::Domain(name) => Some(name.to_owned()),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    };
    let asked = host(base_url)?;
    PROVIDERS.iter().find(|provider| host(provider.base_url).as_ref() == Some(&asked))
}

/// Returns the provider whose key this looks like.
fn of(key: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.prefixes.iter().any(|prefix| key.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::SettingsFixture;
    use super::{PROVIDERS, at};

    // proves X1: a key is not sent to another provider
    #[test]
    fn a_key_for_another_provider_is_refused_with_the_address_it_is_for() {
        for (key, provider, address) in [
            ("sk-ant-api03-xxxxxxxx", "Anthropic", "https://api.anthropic.com/v1"),
            ("gsk_xxxxxxxxxxxx", "Groq", "https://api.groq.com/openai/v1"),
            ("AIzaxxxxxxxxxxx", "Google", "generativelanguage"),
        ] {
            let text = SettingsFixture::nothing().env(&[("OPENAI_API_KEY", key)]).error();
            assert!(text.starts_with(&format!("OPENAI_API_KEY: this is a key for {provider}")), "{text}");
            assert!(text.contains(address) && !text.contains(key), "{text}");
        }
    }

    #[test]
    fn a_key_is_taken_where_it_belongs_and_where_nothing_is_known() {
        for (key, address) in [
            ("sk-ant-api03-xxxxxxxx", "https://api.anthropic.com/v1"),
            ("sk-ant-api03-xxxxxxxx", "https://proxy.example/v1"),
            ("sk-ant-api03-xxxxxxxx", "http://127.0.0.1:4000/v1"),
            ("sk-0123456789", "https://api.openai.com/v1"),
            ("sk-0123456789", "https://api.deepseek.com/v1"),
        ] {
            let given = SettingsFixture::nothing().env(&[("OPENAI_API_KEY", key), ("OPENAI_BASE_URL", address)]);
            let endpoint = given.settings().endpoint.expect("a server");
            assert_eq!(endpoint.api_key.expect("a key").value.expose(), key, "{address}");
        }
    }

    #[test]
    fn every_provider_is_found_at_its_address() {
        for provider in PROVIDERS {
            assert_eq!(at(provider.base_url).map(|found| found.name), Some(provider.name));
        }
    }
}
