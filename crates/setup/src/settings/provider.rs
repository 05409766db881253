//! Recognizes the provider of a key by its prefix. A key is not sent to another provider, which would refuse it and
//! also see it (X1). Unknown keys and addresses are not checked.

use url::{Host, Url};
use windlass::door::{ModelProvider, PROVIDERS};

use super::api_key::ApiKey;
use super::error::SettingsError;
use super::origin::Sourced;

/// Refuses a key of one provider at the address of another.
pub(super) fn check(base_url: &str, key: &Sourced<ApiKey>) -> Result<(), SettingsError> {
    let (Some(at), Some(of)) = (at(base_url), of(key.value.expose())) else { return Ok(()) };
    if at.name == of.name {
        return Ok(());
    }
    let base_url = base_url.to_owned();
    Err(SettingsError::KeyOfOther { origin: key.origin.clone(), key_of: of, base_url, server_of: at })
}

/// Returns the provider at this address.
pub(super) fn at(base_url: &str) -> Option<&'static ModelProvider> {
    let host = |text: &str| match Url::parse(text).ok()?.host()? {
        Host::Domain(name) => Some(name.to_owned()),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    };
    let asked = host(base_url)?;
    PROVIDERS.iter().copied().find(|provider| host(provider.base_url).as_ref() == Some(&asked))
}

/// Returns the provider whose key this looks like.
fn of(key: &str) -> Option<&'static ModelProvider> {
    PROVIDERS.iter().copied().find(|provider| provider.key_prefixes.iter().any(|prefix| key.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::SettingsFixture;
    use super::{PROVIDERS, at};

    // proves X1: a key is not sent to another provider
    #[test]
    fn a_key_for_another_provider_is_refused() {
        for (key, provider) in
            [("sk-ant-api03-xxxxxxxx", "Anthropic"), ("gsk_xxxxxxxxxxxx", "Groq"), ("AIzaxxxxxxxxxxx", "Google")]
        {
            let text = SettingsFixture::nothing().env(&[("OPENAI_API_KEY", key)]).error();
            let expected =
                format!("OPENAI_API_KEY: this is a key for {provider}, and https://api.openai.com/v1 is OpenAI");
            assert_eq!(text, expected);
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
        for provider in PROVIDERS.into_iter().filter(|provider| provider.base_url.starts_with("https:")) {
            assert_eq!(at(provider.base_url).map(|found| found.name), Some(provider.name));
        }
    }
}
