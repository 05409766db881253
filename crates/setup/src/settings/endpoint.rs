//! Chooses the model server and its key.
//!
//! A key is sent only to the server its owner meant: the key a file names belongs to the address in the same file. An
//! address from an untrusted project is not called, not even on this machine, because the server at that address
//! controls the tools.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::error::SettingsError;
use super::file::SettingsFile;
use super::origin::{SettingOrigin, Sourced};
use super::provider;
use super::sources::Sources;

pub const OPENAI: &str = "https://api.openai.com/v1";
const OLLAMA_PORT: u16 = 11434;

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
}

impl ModelEndpoint {
    /// Returns the endpoint of a server that was found on this machine.
    #[must_use]
    pub fn found(base_url: &str) -> Self {
        Self { base_url: Sourced::new(base_url.to_owned(), SettingOrigin::Found), api_key: None }
    }

    /// The server's host and port if it was found, not configured: the person should see where it is.
    #[must_use]
    pub fn found_at(&self) -> Option<String> {
        let found = Url::parse(&self.base_url.value).ok().filter(|_| self.base_url.origin == SettingOrigin::Found)?;
        Some(found.authority().to_owned())
    }

    /// Whether the server is on this machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        Url::parse(&self.base_url.value).is_ok_and(|url| is_here(&url))
    }
}

/// Returns the server to call, with notices for the person.
pub(super) fn endpoint(sources: &Sources) -> Result<(Option<ModelEndpoint>, Vec<String>), SettingsError> {
    let keys = KeyLookup { sources };
    let Some(address) = address(sources)? else {
        let Some(key) = keys.general()? else { return Ok((None, Vec::new())) };
        let base_url = Sourced::new(OPENAI.to_owned(), SettingOrigin::Default);
        provider::check(&base_url.value, &key)?;
        return Ok((Some(ModelEndpoint { base_url, api_key: Some(key) }), Vec::new()));
    };
    let url = check_url(&address)?;
    let base_url = Sourced::new(url.as_str().trim_end_matches('/').to_owned(), address.origin);
    if matches!(base_url.origin, SettingOrigin::Project(_)) && !sources.trusts_project() {
        return Err(sources.untrusted("a base_url", base_url.origin));
    }
    let mut notices = Vec::new();
    let api_key = keys.for_address(&base_url.origin)?;
    if let Some(key) = &api_key {
        provider::check(&base_url.value, key)?;
        if url.scheme() == "http" && !is_here(&url) {
            notices.push(format!("the key from {} travels unencrypted to {}", key.origin, base_url.value));
        }
    }
    Ok((Some(ModelEndpoint { base_url, api_key }), notices))
}

/// Returns the address as configured.
fn address(sources: &Sources) -> Result<Option<Sourced<String>>, SettingsError> {
    let Sources { flags, env, project, user, .. } = sources;
    if let Some(flag) = Sourced::flag("--base-url", flags.base_url.clone()) {
        return Ok(Some(flag));
    }
    for name in ["WINDLASS_BASE_URL", "OPENAI_BASE_URL"] {
        if let Some(url) = env.text(name)? {
            return Ok(Some(url));
        }
    }
    // With an OpenAI key set, `OLLAMA_HOST` is just another server on this machine.
    if env.raw("OPENAI_API_KEY").is_none()
        && let Some(url) = env.parsed("OLLAMA_HOST", ollama_url)?
    {
        return Ok(Some(url));
    }
    let in_file = |file: &Option<SettingsFile>| file.as_ref().and_then(|file| file.sourced(&file.settings.base_url));
    Ok(in_file(project).or_else(|| in_file(user)))
}

struct KeyLookup<'a> {
    sources: &'a Sources,
}

type FoundKey = Result<Option<Sourced<ApiKey>>, SettingsError>;

impl KeyLookup<'_> {
    /// Returns the key for an address that came from `origin`, which is not an untrusted project.
    fn for_address(&self, origin: &SettingOrigin) -> FoundKey {
        if let Some(key) = self.variable("WINDLASS_API_KEY")? {
            return Ok(Some(key));
        }
        let beside = match origin {
            SettingOrigin::Project(_) => self.project()?,
            SettingOrigin::User(_) => self.user()?,
            SettingOrigin::Variable(name) if name == "OLLAMA_HOST" => return Ok(None),
            SettingOrigin::Variable(_)
            | SettingOrigin::Flag(_)
            | SettingOrigin::ProjectServers(_)
            | SettingOrigin::Default
            | SettingOrigin::Found
            | SettingOrigin::Session => None,
        };
        if beside.is_some() { Ok(beside) } else { self.general() }
    }

    /// Returns the key when no address is configured.
    fn general(&self) -> FoundKey {
        if let Some(key) = self.in_environment()? {
            return Ok(Some(key));
        }
        if let Some(key) = self.project()? {
            return Ok(Some(key));
        }
        self.user()
    }

    fn in_environment(&self) -> FoundKey {
        let key = self.variable("WINDLASS_API_KEY")?;
        if key.is_some() { Ok(key) } else { self.variable("OPENAI_API_KEY") }
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
        wrong(&format!("this is not an address ({error}); write it like http://127.0.0.1:11434/v1"))
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("the address must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("the address holds a name or password; take it out and give the key as OPENAI_API_KEY"));
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

/// Returns the address meant by `OLLAMA_HOST`: `host`, `host:port`, `:port` or a URL. For a listen-on-all address
/// (0.0.0.0) the loopback address is called.
fn ollama_url(text: &str) -> Result<String, String> {
    let problem = || "this is not a host; write it like 127.0.0.1:11434".to_owned();
    let text = text.trim();
    let has_scheme = text.contains("://");
    let whole = match text {
        _ if has_scheme => text.to_owned(),
        _ if text.parse::<Ipv6Addr>().is_ok() => format!("http://[{text}]"),
        _ if text.starts_with(':') => format!("http://127.0.0.1{text}"),
        _ => format!("http://{text}"),
    };
    let mut url = Url::parse(&whole).map_err(|_| problem())?;
    match url.host() {
        Some(Host::Ipv4(ip)) if ip.is_unspecified() => url.set_ip_host(Ipv4Addr::LOCALHOST.into()),
        Some(Host::Ipv6(ip)) if ip.is_unspecified() => url.set_ip_host(Ipv6Addr::LOCALHOST.into()),
        Some(Host::Ipv4(_) | Host::Ipv6(_) | Host::Domain(_)) => Ok(()),
        None => Err(()),
    }
    .map_err(|()| problem())?;
    // Without a scheme the default is Ollama's port. The URL parser drops `:80` as the scheme's default, so look for
    // it in the text.
    if !has_scheme && url.port().is_none() && !text.ends_with(":80") {
        url.set_port(Some(OLLAMA_PORT)).map_err(|()| problem())?;
    }
    Ok(format!("{}/v1", url.as_str().trim_end_matches('/')))
}

#[cfg(test)]
mod tests;
