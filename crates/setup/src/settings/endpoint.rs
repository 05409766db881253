//! Chooses the model, its server and the key.
//!
//! What the name of a model means is the library's to say (`windlass::door::NamedModel`). An address given beside the
//! name, as a flag or in the same file, makes the name the server's own id.
//!
//! A key is sent only to the server its owner meant: the key a file names belongs to the server that the same file names. An
//! address from an untrusted project is not called, not even on this machine, because the server at that address
//! controls the tools.

use std::fmt;

use url::{Host, Url};
use windlass::door::{
    AddressVariable, EnvironmentServer, KEY_VARIABLE, MODEL_VARIABLES, ModelProvider, NamedModel, NamedServer, OPENAI,
    PROVIDERS, UnnamedModel, server_in_environment, unnamed_elsewhere,
};
use windlass_vocab::ModelName;

use super::error::SettingsError;
use super::file::SettingsFile;
use super::notice::SettingsNotice;
use super::origin::{SettingOrigin, Sourced};
use super::provider;
use super::sources::Sources;

/// An API key. Never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key itself, for the request that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

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

    /// The server's host and port if it was found, not configured: the person should see where it is.
    #[must_use]
    pub fn found_at(&self) -> Option<String> {
        let found = Url::parse(&self.base_url.value).ok().filter(|_| self.base_url.origin == SettingOrigin::Found)?;
        Some(found.authority().to_owned())
    }
}

/// The model and its server, as far as the settings name them, with notices for the person.
#[derive(Default)]
pub(super) struct ModelSettings {
    pub(super) model: Option<Sourced<ModelName>>,
    pub(super) endpoint: Option<ModelEndpoint>,
    pub(super) notices: Vec<SettingsNotice>,
}

/// The address of a server, and which keys may be sent there.
struct ServerAddress {
    url: Sourced<String>,
    keys: KeyScope,
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
    fn of_provider(provider: &'static ModelProvider, origin: SettingOrigin) -> Self {
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

/// Which keys may be sent to a server, besides our own variable's.
enum KeyScope {
    /// The key of the file that names the server.
    SameFile,
    /// The same, or else a key that is bound to no address.
    SameFileOrUnbound,
    /// The key of this provider.
    Provider(&'static ModelProvider),
}

/// Resolves the model and its server.
pub(super) fn model_settings(sources: &Sources) -> Result<ModelSettings, SettingsError> {
    let name = name(sources)?;
    let parsed = name.as_ref().filter(|name| !has_address_beside(sources, &name.origin));
    let parsed = parsed.map(|name| (NamedModel::parse(name.value.trim()), name));
    let address = match parsed {
        Some((NamedModel { server: NamedServer::Unnamed, .. }, _)) | None => address(sources)?,
        Some((named, name)) => Some(address_in_name(sources, named.server, &name.origin)?),
    };
    let id = |name: &Sourced<String>| match &parsed {
        Some((named, _)) => named.id.map(str::to_owned),
        None => Some(name.value.clone()),
    };
    let model = name.as_ref().and_then(|name| Some(Sourced::new(id(name)?, name.origin.clone())));
    let model = model.map(|model| model.try_map(check_model)).transpose()?;
    let keys = KeyLookup { sources };
    let address = match address {
        Some(address) => address,
        None => match keys.first_provider()? {
            Some(provider) => ServerAddress::of_provider(provider, SettingOrigin::Default),
            None => return Ok(ModelSettings { model, ..ModelSettings::default() }),
        },
    };
    let ServerAddress { url: address, keys: scope, provider, unnamed } = address;
    let url = check_url(&address)?;
    let base_url = Sourced::new(url.as_str().trim_end_matches('/').to_owned(), address.origin);
    if matches!(base_url.origin, SettingOrigin::Project(_)) && !sources.trusts_project() {
        return Err(sources.untrusted("a base_url", base_url.origin));
    }
    let api_key = keys.for_server(&base_url, &scope)?;
    let mut notices = Vec::new();
    if let Some(key) = &api_key {
        provider::check(&base_url.value, key)?;
        if url.scheme() == "http" && !is_here(&url) {
            let text = format!("the key from {} travels unencrypted to {}", key.origin, base_url.value);
            notices.push(SettingsNotice::Sentence(text));
        }
    }
    Ok(ModelSettings { model, endpoint: Some(ModelEndpoint { base_url, api_key, provider, unnamed }), notices })
}

/// Returns the name of the model as configured.
fn name(sources: &Sources) -> Result<Option<Sourced<String>>, SettingsError> {
    let Sources { flags, env, .. } = sources;
    if let Some(flag) = Sourced::flag("model", flags.model.clone()) {
        return Ok(Some(flag));
    }
    for variable in MODEL_VARIABLES {
        if let Some(name) = env.text(variable)? {
            return Ok(Some(name));
        }
    }
    Ok(sources.in_files(|file| file.sourced(&file.settings.model)))
}

/// Whether the server's address is given where the model's name is: then the name is an id of that server.
fn has_address_beside(sources: &Sources, name: &SettingOrigin) -> bool {
    let in_file = |file: &Option<SettingsFile>| file.as_ref().is_some_and(|file| file.settings.base_url.is_some());
    let beside = match name {
        SettingOrigin::Project(_) => in_file(&sources.project),
        SettingOrigin::User(_) => in_file(&sources.user),
        SettingOrigin::Flag(_)
        | SettingOrigin::Variable(_)
        | SettingOrigin::ProjectServers(_)
        | SettingOrigin::Default
        | SettingOrigin::Found
        | SettingOrigin::Session => false,
    };
    beside || sources.flags.base_url.is_some()
}

/// Whether a file names its model together with the server, without a `base_url`.
pub(super) fn names_server(file: &SettingsFile) -> bool {
    let name = file.settings.model.as_ref().filter(|_| file.settings.base_url.is_none());
    name.is_some_and(|name| NamedModel::parse(name.get_ref().trim()).server != NamedServer::Unnamed)
}

/// Returns the server that a model's name means.
fn address_in_name(
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

/// A project's model that is named with its server, for messages.
pub(super) const SERVER_IN_NAME: &str = "a model with its server";

fn address_in(sources: &Sources, variable: AddressVariable) -> Result<Option<Sourced<String>>, SettingsError> {
    let url = |text: &str| variable.form.base_url(text).map_err(|error| error.to_string());
    sources.env.parsed(variable.name, url)
}

/// Returns the address as configured.
fn address(sources: &Sources) -> Result<Option<ServerAddress>, SettingsError> {
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

struct KeyLookup<'a> {
    sources: &'a Sources,
}

type FoundKey = Result<Option<Sourced<ApiKey>>, SettingsError>;

impl KeyLookup<'_> {
    /// Returns the key for a server whose address did not come from an untrusted project.
    fn for_server(&self, base_url: &Sourced<String>, scope: &KeyScope) -> FoundKey {
        if let Some(key) = self.variable(KEY_VARIABLE)? {
            return Ok(Some(key));
        }
        match scope {
            KeyScope::SameFile => self.in_file_of(&base_url.origin),
            KeyScope::SameFileOrUnbound => {
                let beside = self.in_file_of(&base_url.origin)?;
                if beside.is_some() { Ok(beside) } else { self.at_address(&base_url.value) }
            }
            KeyScope::Provider(provider) if *provider == &OPENAI => self.at_address(&base_url.value),
            KeyScope::Provider(provider) => self.unbound(provider),
        }
    }

    /// Returns the key for an address that is given without a provider: that of the provider whose address it is, else
    /// the one for OpenAI.
    fn at_address(&self, base_url: &str) -> FoundKey {
        for variable in provider::at(base_url).into_iter().flat_map(ModelProvider::key_variables) {
            if let Some(key) = self.variable(variable)? {
                return Ok(Some(key));
            }
        }
        self.unbound(&OPENAI)
    }

    /// Returns the first provider in the table that there is a key for.
    fn first_provider(&self) -> Result<Option<&'static ModelProvider>, SettingsError> {
        for provider in PROVIDERS {
            let key = match provider.key_variable {
                Some(_) if provider == &OPENAI => self.unbound(provider)?,
                Some(variable) => self.variable(variable)?,
                None => None,
            };
            if key.is_some() {
                return Ok(Some(provider));
            }
        }
        Ok(None)
    }

    fn in_file_of(&self, origin: &SettingOrigin) -> FoundKey {
        match origin {
            SettingOrigin::Project(_) => self.project(),
            SettingOrigin::User(_) => self.user(),
            SettingOrigin::Variable(_)
            | SettingOrigin::Flag(_)
            | SettingOrigin::ProjectServers(_)
            | SettingOrigin::Default
            | SettingOrigin::Found
            | SettingOrigin::Session => Ok(None),
        }
    }

    /// Returns the key of this provider: a variable's, or, if it has keys at all, that of a file which names no other server.
    fn unbound(&self, provider: &ModelProvider) -> FoundKey {
        for variable in provider.key_variables() {
            if let Some(key) = self.variable(variable)? {
                return Ok(Some(key));
            }
        }
        if !provider.has_keys() {
            return Ok(None);
        }
        let has_key = |file: &Option<SettingsFile>| file.as_ref().is_some_and(|file| is_key_for(file, provider));
        let project = if has_key(&self.sources.project) { self.project()? } else { None };
        match project {
            None if has_key(&self.sources.user) => self.user(),
            found => Ok(found),
        }
    }

    fn variable(&self, name: &str) -> FoundKey {
        self.sources.env.parsed(name, check_key)
    }

    /// Returns the key that the project's file names, which it may do only when trusted.
    fn project(&self) -> FoundKey {
        let Some(project) = &self.sources.project else { return Ok(None) };
        match &project.settings.api_key_env {
            Some(name) if !self.sources.trusts_project() => {
                Err(self.sources.untrusted("the choice of a key (api_key_env)", project.origin(name)))
            }
            Some(_) => self.named_in(project),
            None => Ok(None),
        }
    }

    fn user(&self) -> FoundKey {
        let Some(user) = &self.sources.user else { return Ok(None) };
        match user.sourced(&user.settings.api_key) {
            Some(key) => key.try_map(|key| check_key(&key)).map(Some),
            None => self.named_in(user),
        }
    }

    /// Returns the key in the variable that `file` names.
    fn named_in(&self, file: &SettingsFile) -> FoundKey {
        let Some(name) = file.sourced(&file.settings.api_key_env) else { return Ok(None) };
        match self.variable(&name.value)? {
            Some(key) => Ok(Some(key)),
            None => {
                let problem = format!("the key should be in the variable {}, which is not set", name.value);
                Err(SettingsError::wrong(name.origin, problem))
            }
        }
    }
}

/// Whether a key in this file is for this provider. Beside an address it is for that address, beside a model with its
/// server for that server, and else for OpenAI.
fn is_key_for(file: &SettingsFile, provider: &ModelProvider) -> bool {
    if file.settings.base_url.is_some() {
        return false;
    }
    let named = file.settings.model.as_ref().map(|name| NamedModel::parse(name.get_ref().trim()).server);
    match named {
        None | Some(NamedServer::Unnamed) => provider == &OPENAI,
        Some(NamedServer::Provider(named)) => named == provider,
        Some(NamedServer::Address(_)) => false,
    }
}

fn check_model(name: String) -> Result<ModelName, String> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err("this is not the name of a model".into());
    }
    Ok(ModelName(name))
}

fn check_key(text: &str) -> Result<ApiKey, String> {
    let key = text.trim();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("this is not a key: a key is letters, digits and signs without blanks".into());
    }
    Ok(ApiKey(key.to_owned()))
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

#[cfg(test)]
mod tests;
