//! Finds the key for a model server. A key is sent only to the server its owner meant: the key a file names belongs to
//! the server that the same file names.

use windlass::door::{KEY_VARIABLE, ModelProvider, NamedModel, NamedServer, OPENAI, PROVIDERS, provider_of_id};

use super::api_key::ApiKey;
use super::error::SettingsError;
use super::file::SettingsFile;
use super::model_endpoint::ModelEndpoint;
use super::origin::{SettingOrigin, Sourced};
use super::provider;
use super::sources::Sources;

/// Which keys may be sent to a server, besides our own variable's.
pub(super) enum KeyScope {
    /// None.
    None,
    /// The key of the file that names the server.
    SameFile,
    /// The same, or else a key that is bound to no address.
    SameFileOrUnbound,
    /// The key of this provider.
    Provider(&'static ModelProvider),
    /// The key in this variable, which the model's own table names, and no other.
    Variable(Sourced<String>),
}

/// Looks for keys in the environment and the files.
pub(super) struct KeyLookup<'a> {
    pub(super) sources: &'a Sources,
}

type FoundKey = Result<Option<Sourced<ApiKey>>, SettingsError>;

impl KeyLookup<'_> {
    /// Returns the key for a server whose address did not come from an untrusted project.
    pub(super) fn for_server(&self, base_url: &Sourced<String>, scope: &KeyScope) -> FoundKey {
        let of_any = match scope {
            KeyScope::Variable(name) => return self.named(name),
            KeyScope::None | KeyScope::SameFile | KeyScope::SameFileOrUnbound | KeyScope::Provider(_) => {
                self.variable(KEY_VARIABLE)?
            }
        };
        if of_any.is_some() {
            return Ok(of_any);
        }
        match scope {
            KeyScope::None | KeyScope::Variable(_) => Ok(None),
            KeyScope::SameFile => self.in_file_of(&base_url.origin),
            KeyScope::SameFileOrUnbound => {
                let beside = self.in_file_of(&base_url.origin)?;
                if beside.is_some() { Ok(beside) } else { self.at_address(&base_url.value) }
            }
            KeyScope::Provider(provider) if *provider == &OPENAI => self.at_address(&base_url.value),
            KeyScope::Provider(provider) => self.unbound(provider),
        }
    }

    /// Returns the key for a later model of a chain: its provider's own, and no other.
    pub(super) fn for_fallback(&self, scope: &KeyScope) -> FoundKey {
        match scope {
            KeyScope::None | KeyScope::SameFile | KeyScope::SameFileOrUnbound => Ok(None),
            KeyScope::Variable(name) => self.named(name),
            KeyScope::Provider(provider) => {
                for variable in provider.key_variable.into_iter().chain(provider.shared_key_variable) {
                    if let Some(key) = self.variable(variable)? {
                        return Ok(Some(key));
                    }
                }
                self.in_files_for(provider)
            }
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
    pub(super) fn first_provider(&self) -> Result<Option<&'static ModelProvider>, SettingsError> {
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

    /// Returns the provider whose model an id is, where that is another than `usual`. At an address that somebody gave,
    /// every id is the server's own.
    pub(super) fn provider_of_id(&self, id: &str, usual: Option<&ModelEndpoint>) -> Option<&'static ModelProvider> {
        let usual = usual.and_then(ModelEndpoint::hosted)?;
        let is_set_up = |provider: &'static ModelProvider| {
            let address =
                provider.address_variable.is_some_and(|variable| self.sources.env.raw(variable.name).is_some());
            address || self.for_fallback(&KeyScope::Provider(provider)).is_ok_and(|key| key.is_some())
        };
        Some(provider_of_id(id, usual, is_set_up)).filter(|provider| *provider != usual)
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
        self.in_files_for(provider)
    }

    /// Returns the key of this provider in a file, if it has keys at all.
    fn in_files_for(&self, provider: &ModelProvider) -> FoundKey {
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
        self.sources.env.parsed(name, ApiKey::parse)
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
            Some(key) => key.try_map(|key| ApiKey::parse(&key)).map(Some),
            None => self.named_in(user),
        }
    }

    /// Returns the key in the variable that `file` names.
    fn named_in(&self, file: &SettingsFile) -> FoundKey {
        file.sourced(&file.settings.api_key_env).map_or(Ok(None), |name| self.named(&name))
    }

    /// Returns the key in a variable that must be set.
    fn named(&self, name: &Sourced<String>) -> FoundKey {
        match self.variable(&name.value)? {
            Some(key) => Ok(Some(key)),
            None => {
                let problem = format!("the key should be in the variable {}, which is not set", name.value);
                Err(SettingsError::wrong(name.origin.clone(), problem))
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
    let named = file.settings.model.as_ref().map(|chain| {
        let first = chain.get_ref().first();
        let table = file.settings.models.get(first).and_then(|table| table.get_ref().model.as_ref());
        NamedModel::parse(table.map_or(first, |model| model.get_ref().trim())).server
    });
    match named {
        None | Some(NamedServer::Unnamed) => provider == &OPENAI,
        Some(NamedServer::Provider(named)) => named == provider,
        Some(NamedServer::Address(_)) => false,
    }
}
