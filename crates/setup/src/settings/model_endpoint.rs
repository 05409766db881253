//! A model server that can be called.

use url::Url;
use windlass::door::{ModelProvider, UnnamedModel};
use windlass_provider::server_kind::ServerKind;

use super::api_key::ApiKey;
use super::origin::{SettingOrigin, Sourced};

/// A model server and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEndpoint {
    /// The address up to and including the version, e.g. `https://api.openai.com/v1`, without a trailing slash.
    pub base_url: Sourced<String>,
    /// The key, where one is needed.
    pub api_key: Option<Sourced<ApiKey>>,
    /// Whose server it is, where that is known; the wire, the abilities and the prices of its models depend on it.
    pub provider: Option<&'static ModelProvider>,
    /// The server's model when none is named.
    pub unnamed: UnnamedModel,
}

impl ModelEndpoint {
    /// Returns the endpoint of a server that was found on this machine.
    #[must_use]
    pub fn found(base_url: &str) -> Self {
        let base_url = Sourced::new(base_url.to_owned(), SettingOrigin::Found);
        Self { base_url, api_key: None, provider: None, unnamed: UnnamedModel::OnlyListed }
    }

    /// The provider with keys whose own address this is.
    #[must_use]
    pub fn hosted(&self) -> Option<&'static ModelProvider> {
        self.provider.filter(|provider| provider.has_keys() && provider.base_url == self.base_url.value)
    }

    /// What kind of server it is, as far as that is known.
    #[must_use]
    pub fn kind(&self) -> ServerKind {
        self.provider.map_or_else(|| ServerKind::at(&self.base_url.value), |provider| provider.server)
    }

    /// The server's host and port if it was found, not configured: the person should see where it is.
    #[must_use]
    pub fn found_at(&self) -> Option<String> {
        let found = Url::parse(&self.base_url.value).ok().filter(|_| self.base_url.origin == SettingOrigin::Found)?;
        Some(found.authority().to_owned())
    }
}
