//! Chooses the model, its server and the key.
//!
//! What the name of a model means is the library's to say (`windlass::door::NamedModel`). An address given beside the
//! name, as a flag or in the same file, makes the name the server's own id.

use std::collections::BTreeMap;

use windlass::door::{MODEL_VARIABLES, NamedModel, NamedServer};
use windlass_vocab::{ModelName, ModelRole};

use super::agents;
use super::error::SettingsError;
use super::fallbacks::{self, FallbackModel, FirstModel, check_prefix};
use super::file::SettingsFile;
use super::key_lookup::{KeyLookup, KeyScope};
use super::model_endpoint::ModelEndpoint;
use super::model_list::{ModelList, check_model};
use super::model_tables::{self, FoundTable, TableModel};
use super::notice::SettingsNotice;
use super::origin::{SettingOrigin, Sourced};
use super::roles;
use super::server_address::{KeyUse, ServerAddress, address, address_in_name, endpoint_at};
use super::sources::Sources;

/// The models and their servers, as far as the settings name them, with notices for the person.
#[derive(Debug, Default)]
pub struct ModelSettings {
    /// The id of the first model, if one is named.
    pub(super) model: Option<Sourced<ModelName>>,
    /// The entry of the first model among the person's own models, if it has one.
    pub(super) table: Option<TableModel>,
    pub(crate) endpoint: Option<ModelEndpoint>,
    /// The models that follow in the chain.
    pub(super) fallbacks: Vec<FallbackModel>,
    /// The models of other roles than the turn's.
    pub(super) role_models: BTreeMap<ModelRole, Vec<FallbackModel>>,
    /// Notices for the person.
    pub notices: Vec<SettingsNotice>,
}

/// The name of the first model, and where its server is found.
struct RequestedName {
    text: Sourced<String>,
    reading: NameReading,
    /// The variable with the key for its server, where the model's own table names one.
    key: Option<Sourced<String>>,
}

/// How a name is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameReading {
    /// It may say the server.
    Parsed,
    /// It is that of a person's own model, whose file's key is for another server.
    ParsedWithoutFileKey,
    /// It is an id of the server whose address stands beside it.
    BesideAddress,
}

/// Resolves the models and their servers.
pub(super) fn model_settings(sources: &Sources) -> Result<ModelSettings, SettingsError> {
    match chain(sources)? {
        Some(chain) => models_named(sources, &chain, None),
        None => with_roles(sources, first_model(sources, None, None)?),
    }
}

/// Adds the models of other roles than the turn's.
fn with_roles(sources: &Sources, mut resolved: ModelSettings) -> Result<ModelSettings, SettingsError> {
    let id = resolved.model.as_ref().map(|model| model.value.as_str());
    let first = FirstModel { name: None, id, endpoint: resolved.endpoint.as_ref() };
    let (role_models, notices) = roles::role_models(sources, &first)?;
    resolved.role_models = role_models;
    for notice in notices {
        // Several models of a server have the same notice.
        if !resolved.notices.contains(&notice) {
            resolved.notices.push(notice);
        }
    }
    Ok(resolved)
}

/// Resolves the models that are named so. A first one without a server is of the `current` server, where there is one.
pub(super) fn models_named(
    sources: &Sources,
    chain: &Sourced<ModelList>,
    current: Option<&ModelEndpoint>,
) -> Result<ModelSettings, SettingsError> {
    chain.value.check().map_err(|problem| SettingsError::wrong(chain.origin.clone(), problem))?;
    let first = Sourced::new(chain.value.first().to_owned(), chain.origin.clone());
    let (name, table) = match model_tables::find(sources, &first.value)? {
        Some(FoundTable { model, stands_for, key }) => {
            let reading = if is_models_key(sources, &stands_for.origin, &first.value) {
                NameReading::Parsed
            } else {
                NameReading::ParsedWithoutFileKey
            };
            (RequestedName { text: stands_for, reading, key }, Some(model))
        }
        None if current.is_none() && has_address_beside(sources, &first.origin) => {
            (RequestedName { text: first, reading: NameReading::BesideAddress, key: None }, None)
        }
        None => (RequestedName { text: first, reading: NameReading::Parsed, key: None }, None),
    };
    let mut resolved = first_model(sources, Some(&name), current)?;
    let id = resolved.model.as_ref().map(|model| model.value.as_str());
    let own_name = table.as_ref().map(|table| table.name.as_str());
    let first = FirstModel { name: own_name.or(id), id, endpoint: resolved.endpoint.as_ref() };
    let (fallbacks, notices) = fallbacks::fallbacks(sources, chain.value.others(), &chain.origin, &first)?;
    resolved.notices.extend(notices);
    with_roles(sources, ModelSettings { fallbacks, table, ..resolved })
}

/// Resolves the first model and its server.
fn first_model(
    sources: &Sources,
    name: Option<&RequestedName>,
    current: Option<&ModelEndpoint>,
) -> Result<ModelSettings, SettingsError> {
    let parsed = name.filter(|name| name.reading != NameReading::BesideAddress);
    let parsed = parsed.map(|name| (NamedModel::parse(name.text.value.trim()), name));
    let id = |name: &RequestedName| match &parsed {
        Some((named, _)) => named.id.map(str::to_owned),
        None => Some(name.text.value.clone()),
    };
    let model = name.and_then(|name| Some(Sourced::new(id(name)?, name.text.origin.clone())));
    let model = model.map(|model| model.try_map(check_model)).transpose()?;
    let (usual, notice) = match (&parsed, current) {
        (Some((NamedModel { server: NamedServer::Unnamed, .. }, _)), Some(current)) => (Some(current.clone()), None),
        (Some((NamedModel { server: NamedServer::Unnamed, .. }, _)) | None, _) => configured_server(sources)?,
        (Some(_), _) => (None, None),
    };
    let parsed = match parsed {
        Some((NamedModel { server: NamedServer::Unnamed, id }, name)) => {
            check_prefix(&name.text, usual.as_ref())?;
            let server = id.and_then(|id| KeyLookup { sources }.provider_of_id(id, usual.as_ref()));
            Some((NamedModel { server: server.map_or(NamedServer::Unnamed, NamedServer::Provider), id }, name))
        }
        named => named,
    };
    let (endpoint, notice) = match parsed {
        Some((NamedModel { server: NamedServer::Unnamed, .. }, _)) | None => (usual, notice),
        Some((named, name)) => {
            let mut address = address_in_name(sources, named.server, &name.text.origin)?;
            if let (KeyScope::SameFile, NameReading::ParsedWithoutFileKey) = (&address.keys, name.reading) {
                address.keys = KeyScope::None;
            }
            if let Some(key) = &name.key {
                address.keys = KeyScope::Variable(key.clone());
            }
            let (endpoint, notice) = endpoint_at(sources, address, KeyUse::First)?;
            (Some(endpoint), notice)
        }
    };
    Ok(ModelSettings { model, endpoint, notices: notice.into_iter().collect(), ..ModelSettings::default() })
}

/// A server, if there is one, and a notice for the person.
type NoticedServer = (Option<ModelEndpoint>, Option<SettingsNotice>);

/// Returns the server that is configured apart from the model's name.
fn configured_server(sources: &Sources) -> Result<NoticedServer, SettingsError> {
    let address = match address(sources)? {
        Some(address) => address,
        None => match (KeyLookup { sources }).first_provider()? {
            Some(provider) => ServerAddress::of_provider(provider, SettingOrigin::Default),
            None => return Ok((None, None)),
        },
    };
    let (endpoint, notice) = endpoint_at(sources, address, KeyUse::First)?;
    Ok((Some(endpoint), notice))
}

/// Whether the file with this table is about the table's model, so that a key in the file is for its server.
fn is_models_key(sources: &Sources, table: &SettingOrigin, name: &str) -> bool {
    let of_file = |file: &Option<SettingsFile>| {
        let named = file.as_ref().and_then(|file| file.settings.model.as_ref());
        named.is_some_and(|chain| chain.get_ref().first() == name)
    };
    match table {
        SettingOrigin::Project(_) => of_file(&sources.project),
        SettingOrigin::User(_) => of_file(&sources.user),
        SettingOrigin::Flag(_)
        | SettingOrigin::Variable(_)
        | SettingOrigin::ProjectServers(_)
        | SettingOrigin::Default
        | SettingOrigin::Found
        | SettingOrigin::Session => false,
    }
}

/// Returns the names of the models as configured.
fn chain(sources: &Sources) -> Result<Option<Sourced<ModelList>>, SettingsError> {
    let parse = |name: Sourced<String>| Sourced::new(ModelList::parse(&name.value), name.origin);
    let mut given = Sourced::flag("model", sources.flags.model.clone()).map(parse);
    if given.is_none() {
        given = agents::chosen(sources)?.model;
    }
    for variable in MODEL_VARIABLES {
        if given.is_none() {
            given = sources.env.text(variable)?.map(parse);
        }
    }
    Ok(given.or_else(|| sources.in_files(|file| file.sourced(&file.settings.model))))
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

/// Whether a file names a model together with its server, other than the one of its `base_url`.
pub(super) fn names_server(file: &SettingsFile) -> bool {
    let Some(chain) = &file.settings.model else { return false };
    let named = |name: &str| NamedModel::parse(name).server != NamedServer::Unnamed;
    let first = Some(chain.get_ref().first()).filter(|_| file.settings.base_url.is_none());
    first.into_iter().chain(chain.get_ref().others()).any(named)
}

#[cfg(test)]
mod tests;
