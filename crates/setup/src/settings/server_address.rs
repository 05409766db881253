//! The address of a model server, and the server at it with its key.
//!
//! An address from an untrusted project is not called, not even on this machine, because the server at that address
//! controls the tools.

use url::{Host, Url};
use windlass::door::{
    AddressVariable, EnvironmentServer, ModelProvider, NamedServer, OPENAI, UnnamedModel, server_in_environment,
    unnamed_elsewhere,
};

use super::error::SettingsError;
use super::key_lookup::{KeyLookup, KeyScope};
use super::model_endpoint::ModelEndpoint;
use super::notice::SettingsNotice;
use super::origin::{SettingOrigin, Sourced};
use super::provider;
use super::sources::Sources;

/// The address of a server, and which keys may be sent there.
pub(super) struct ServerAddress {
    url: Sourced<String>,
    pub(super) keys: KeyScope,
    provider: Option<&'static ModelProvider>,
    unnamed: UnnamedModel,
}

impl ServerAddress {
    /// The address of any server.
    fn of_any(url: Sourced<String>, keys: KeyScope) -> Self {
        let provider = provider::at(&url.value);
        Self { url, keys, provider, unnamed: UnnamedModel::OnlyListed }
    }

    /// The provider's own address.
    pub(super) fn of_provider(provider: &'static ModelProvider, origin: SettingOrigin) -> Self {
        let url = Sourced::new(provider.base_url.to_owned(), origin);
        let keys = KeyScope::Provider(provider);
        Self { url, keys, provider: Some(provider), unnamed: provider.unnamed_model }
    }

    /// Another address that the environment gives for the provider. OpenAI's variable may give that of any server with
    /// its protocol, so there the address decides whose server it is.
    fn elsewhere(provider: &'static ModelProvider, url: Sourced<String>) -> Self {
        let owner = if provider == &OPENAI { provider::at(&url.value) } else { Some(provider) };
        let keys = KeyScope::Provider(provider);
        Self { url, keys, provider: owner, unnamed: unnamed_elsewhere(provider) }
    }
}

/// Which keys may be used for a server.
#[derive(Clone, Copy)]
pub(super) enum KeyUse<'a> {
    /// It is the server of the first model: all that its address allows.
    First,
    /// It is that of a later model: the key of its provider; where it is the first one's server, the same key.
    Fallback {
        /// The server of the first model, where it is known.
        first: Option<&'a ModelEndpoint>,
    },
}

/// Returns the server at this address with its key, and a notice for the person.
pub(super) fn endpoint_at(
    sources: &Sources,
    address: ServerAddress,
    key_use: KeyUse<'_>,
) -> Result<(ModelEndpoint, Option<SettingsNotice>), SettingsError> {
    let ServerAddress { url: address, keys: scope, provider, unnamed } = address;
    let url = check_url(&address)?;
    let base_url = Sourced::new(url.as_str().trim_end_matches('/').to_owned(), address.origin);
    if matches!(base_url.origin, SettingOrigin::Project(_)) && !sources.trusts_project() {
        return Err(sources.untrusted("a base_url", base_url.origin));
    }
    let keys = KeyLookup { sources };
    let api_key = match key_use {
        KeyUse::First => keys.for_server(&base_url, &scope)?,
        KeyUse::Fallback { first: Some(first) }
            if first.base_url.value == base_url.value && !matches!(scope, KeyScope::Variable(_)) =>
        {
            first.api_key.clone()
        }
        KeyUse::Fallback { .. } => keys.for_fallback(&scope)?,
    };
    let mut notice = None;
    if let Some(key) = &api_key {
        provider::check(&base_url.value, key)?;
        if url.scheme() == "http" && !is_here(&url) {
            let text = format!("the key from {} travels unencrypted to {}", key.origin, base_url.value);
            notice = Some(SettingsNotice::Sentence(text));
        }
    }
    Ok((ModelEndpoint { base_url, api_key, provider, unnamed }, notice))
}

/// Returns the server that a model's name means.
pub(super) fn address_in_name(
    sources: &Sources,
    server: NamedServer<'_>,
    origin: &SettingOrigin,
) -> Result<ServerAddress, SettingsError> {
    if matches!(origin, SettingOrigin::Project(_)) && !sources.trusts_project() {
        return Err(sources.untrusted(SERVER_IN_NAME, origin.clone()));
    }
    match server {
        NamedServer::Address(url) => {
            Ok(ServerAddress::of_any(Sourced::new(url.to_owned(), origin.clone()), KeyScope::SameFile))
        }
        NamedServer::Provider(provider) => {
            let elsewhere = provider.address_variable.map_or(Ok(None), |variable| address_in(sources, variable))?;
            Ok(match elsewhere {
                Some(url) => ServerAddress::elsewhere(provider, url),
                None => ServerAddress::of_provider(provider, origin.clone()),
            })
        }
        NamedServer::Unnamed => Err(SettingsError::NoServer),
    }
}

/// Returns the server of a provider that is set up: there is a key for it, or its address is given. What is wrong with
/// either is said when the provider is named.
pub(super) fn usable_endpoint(sources: &Sources, provider: &'static ModelProvider) -> Option<ModelEndpoint> {
    let is_set = |name: &str| sources.env.raw(name).is_some();
    let address = provider.address_variable.is_some_and(|variable| is_set(variable.name));
    // A variable that is shared with other services does not mean the provider.
    let is_shared = provider.shared_key_variable.is_some_and(is_set) && !provider.key_variable.is_some_and(is_set);
    let server = address_in_name(sources, NamedServer::Provider(provider), &SettingOrigin::Default).ok()?;
    let (endpoint, _) = endpoint_at(sources, server, KeyUse::Fallback { first: None }).ok()?;
    (address || (endpoint.api_key.is_some() && !is_shared)).then_some(endpoint)
}

/// A project's model that is named with its server, for messages.
pub(super) const SERVER_IN_NAME: &str = "a model with its server";

fn address_in(sources: &Sources, variable: AddressVariable) -> Result<Option<Sourced<String>>, SettingsError> {
    let url = |text: &str| variable.form.base_url(text).map_err(|error| error.to_string());
    sources.env.parsed(variable.name, url)
}

/// Returns the address as configured.
pub(super) fn address(sources: &Sources) -> Result<Option<ServerAddress>, SettingsError> {
    let Sources { flags, env, .. } = sources;
    if let Some(url) = Sourced::flag("base_url", flags.base_url.clone()) {
        return Ok(Some(ServerAddress::of_any(url, KeyScope::Provider(&OPENAI))));
    }
    if let Some(EnvironmentServer::Address(variable, provider)) = server_in_environment(|name| env.raw(name).is_some())
        && let Some(url) = address_in(sources, variable)?
    {
        return Ok(Some(ServerAddress::elsewhere(provider, url)));
    }
    let url = sources.in_files(|file| file.sourced(&file.settings.base_url));
    Ok(url.map(|url| ServerAddress::of_any(url, KeyScope::SameFileOrUnbound)))
}

/// Checks that an address can be called. Its text is displayed only once it is known to contain no password.
fn check_url(address: &Sourced<String>) -> Result<Url, SettingsError> {
    let wrong = |problem: &str| SettingsError::wrong(address.origin.clone(), problem);
    let url = Url::parse(address.value.trim()).map_err(|error| {
        wrong(&format!("this is not an address ({error}); one is written like http://127.0.0.1:11434/v1"))
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("the address must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SettingsError::PasswordInAddress { origin: address.origin.clone() });
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("the address must end with its path, e.g. /v1, without ? and #"));
    }
    Ok(url)
}

/// Whether the address is on this machine.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
