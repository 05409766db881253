//! Settings: flags > environment > `windlass.toml` of the project > the user's own > defaults.
//!
//! The protocol: [`Sources::gather`] reads files and environment; [`Sources::place`] and [`Sources::resolve`] then
//! decide without I/O, except that they read the files behind the commands of a project's servers. Every value keeps
//! its [`SettingOrigin`], so that an error found later can still say where the value is.
//!
//! Settings that an untrusted project's file may not make are dropped first (`left_out`);
//! docs/decisions/0005-settings.md says why.

mod agents;
mod api_key;
mod approved_command;
mod better_preset;
mod command_env;
mod command_words;
mod dialect;
mod durability;
mod endpoint;
mod env;
mod error;
mod fallbacks;
mod fetching;
mod file;
pub mod file_edit;
mod file_settings;
mod flags;
mod gather;
mod hidden;
mod ignored_setting;
mod key_lookup;
mod left_out;
mod misnamed;
mod mode;
mod model_endpoint;
mod model_list;
mod model_tables;
mod nearest;
mod notice;
mod origin;
mod ownership;
mod permissions;
mod place;
mod policy;
mod programs;
mod provider;
mod role_names;
mod roles;
pub mod sandbox;
pub mod saved_texts;
mod server_address;
mod server_entries;
mod servers;
mod sources;
mod system;
mod trust;
mod trust_state;
mod untrusted_folder;
mod wide_workspace;

use std::collections::BTreeMap;
use std::path::PathBuf;

use windlass::door::PROVIDERS;
use windlass_mcp::ServerName;
use windlass_tools::HostPattern;
use windlass_vocab::{ModelName, ModelRole, Policy};

use self::fallbacks::{FirstModel, fallback};
use self::model_list::ModelList;

pub use self::api_key::ApiKey;
pub use self::approved_command::ApprovedCommand;
pub use self::command_env::CommandEnv;
pub use self::dialect::ChosenDialects;
pub use self::durability::DurabilitySetting;
pub use self::endpoint::ModelSettings;
pub use self::env::Env;
pub use self::error::SettingsError;
pub use self::fallbacks::FallbackModel;
pub use self::file::{SettingsFile, SettingsScope};
pub use self::flags::Flags;
pub use self::ignored_setting::IgnoredSetting;
pub use self::mode::ModeSetting;
pub use self::model_endpoint::ModelEndpoint;
pub use self::model_tables::TableModel;
pub use self::nearest::{near, nearest};
pub use self::notice::{OwnershipProblem, SettingsNotice};
pub use self::origin::{Position, SettingOrigin, Sourced};
pub use self::permissions::PermissionSettings;
pub use self::place::{PlaceSettings, RepeatedFlags, create_data_dir};
pub use self::sandbox::SandboxSettings;
pub use self::server_entries::{ServerAddition, ServerRemoval, add_server, remove_server};
pub use self::servers::{ConfiguredServer, ServerConsent};
pub use self::sources::Sources;
pub use self::sources::{FILE_NAME, user_file, user_file_for_people};
pub use self::trust::{ChangedFile, ProjectFileContent};
pub use self::trust_state::TrustState;
pub use self::untrusted_folder::{FormerTrust, UntrustedFolder};

/// Everything a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where sessions are kept.
    pub place: PlaceSettings,
    /// The server, if one is configured or a key is given.
    pub endpoint: Option<ModelEndpoint>,
    /// The model, if one is named: a resumed run has its own.
    pub model: Option<Sourced<ModelName>>,
    /// The entry of that model among the person's own models, if it has one.
    pub table: Option<TableModel>,
    /// The models that follow in the chain.
    pub fallbacks: Vec<FallbackModel>,
    /// The models of other roles than the turn's; a role that is absent uses the chain (M9).
    pub role_models: BTreeMap<ModelRole, Vec<FallbackModel>>,
    /// The policy of a new run, resolved preset < user's file < project's file < variable < flag.
    pub policy: Policy,
    /// The dialects that are chosen for all models.
    pub dialects: ChosenDialects,
    /// The agent's name.
    pub agent: String,
    /// Who the agent is and what it is for, in place of the default (C2).
    pub system: Option<Sourced<String>>,
    /// Whether the project's files of instructions and its skills are given to the model.
    pub project_instructions: Sourced<bool>,
    /// The folders whose instructions are read, the workspace first.
    pub instruction_folders: Vec<PathBuf>,
    /// The permission rules.
    pub permissions: PermissionSettings,
    /// The sandbox commands run in.
    pub sandbox: SandboxSettings,
    /// Hosts on this machine and in private networks that may be fetched from.
    pub fetch_private: Vec<Sourced<HostPattern>>,
    /// Which variables commands get or don't get.
    pub command_env: CommandEnv,
    /// The MCP servers.
    pub servers: BTreeMap<ServerName, ConfiguredServer>,
    /// Notices for the person.
    pub notices: Vec<SettingsNotice>,
}

impl Settings {
    /// Uses these models in place of the configured ones.
    pub fn use_models(&mut self, models: ModelSettings) {
        let ModelSettings { model, table, endpoint, fallbacks, role_models, notices: _ } = models;
        (self.model, self.table, self.endpoint) = (model, table, endpoint);
        (self.fallbacks, self.role_models) = (fallbacks, role_models);
    }

    /// The name of the first model in records.
    pub fn first_name(&self) -> Option<&ModelName> {
        self.table.as_ref().map(|table| &table.name).or(self.model.as_ref().map(|model| &model.value))
    }

    /// The figures that are configured for this model of the first server, and its name in records.
    #[must_use]
    pub fn table_of(&self, model: &ModelName) -> Option<&TableModel> {
        let is_first = self.model.as_ref().is_some_and(|first| first.value == *model);
        self.table.as_ref().filter(|_| is_first)
    }

    /// The models after the first: of the chain, then of the roles.
    pub fn later_models(&self) -> impl Iterator<Item = &FallbackModel> {
        self.fallbacks.iter().chain(self.role_models.values().flatten())
    }

    /// The servers that are named, that of the first model first.
    pub fn endpoints(&self) -> impl Iterator<Item = &ModelEndpoint> {
        self.endpoint.iter().chain(self.later_models().filter_map(|model| model.endpoint.as_ref()))
    }

    /// The keys that are sent to model servers, that of the first model first.
    pub fn api_keys(&self) -> impl Iterator<Item = &Sourced<ApiKey>> {
        self.endpoints().filter_map(|endpoint| endpoint.api_key.as_ref())
    }
}

impl Sources {
    /// Resolves where sessions are kept.
    pub fn place(&self) -> Result<PlaceSettings, SettingsError> {
        let (sources, _) = self.tightened();
        let (workspace, closed) = (self.workspace.clone(), self.closed());
        let (data_dir, durability) = (sources.data_dir()?, sources.durability()?);
        Ok(PlaceSettings { workspace, data_dir, durability, again: RepeatedFlags::from(&self.flags), closed })
    }

    /// Resolves everything a run needs.
    pub fn resolve(&self) -> Result<Settings, SettingsError> {
        let (sources, left_out) = self.tightened();
        sources.decide(left_out)
    }

    /// Resolves the models that a person names in place of the configured ones: one, or several with commas between them.
    /// A first one without a server is of the `current` server, where there is one.
    pub fn models_named(&self, names: &str, current: Option<&ModelEndpoint>) -> Result<ModelSettings, SettingsError> {
        let (sources, _) = self.tightened();
        let chain = Sourced::new(ModelList::parse(names), SettingOrigin::Flag("model"));
        endpoint::models_named(&sources, &chain, current)
    }

    /// Resolves the models with names of their own, by name; `first` is the server of the first model. One that can't be used
    /// has its reason.
    pub fn own_models(&self, first: Option<&ModelEndpoint>) -> BTreeMap<String, Result<FallbackModel, SettingsError>> {
        let (sources, _) = self.tightened();
        let first = FirstModel { name: None, id: None, endpoint: first };
        let files = [&sources.project, &sources.user].into_iter().flatten();
        let names = files.flat_map(|file| file.settings.models.keys());
        let resolved = |name: &String| {
            fallback(&sources, Sourced::new(name, SettingOrigin::Default), &first).map(|(model, _)| model)
        };
        names.map(|name| (name.clone(), resolved(name))).collect()
    }

    /// Returns the servers of the providers for which there is a key or an address, whether or not they are used.
    pub fn usable_endpoints(&self) -> Vec<ModelEndpoint> {
        let (sources, _) = self.tightened();
        PROVIDERS.into_iter().filter_map(|provider| server_address::usable_endpoint(&sources, provider)).collect()
    }

    /// Returns the same sources without a variable of the environment.
    pub(crate) fn without_variable(&self, name: &str) -> Self {
        Self { env: self.env.without(name), ..self.clone() }
    }

    /// Whether the person's own models include one of this name.
    pub(crate) fn has_own_model(&self, name: &str) -> bool {
        [&self.project, &self.user].into_iter().flatten().any(|file| file.settings.models.contains_key(name))
    }

    /// Resolves everything a run needs, from sources without loosening settings of an untrusted project.
    fn decide(&self, mut left_out: Vec<IgnoredSetting>) -> Result<Settings, SettingsError> {
        let mut notices = self.notices.clone();
        let model_settings = endpoint::model_settings(self)?;
        notices.extend(model_settings.notices);
        let permissions = permissions::permissions(self)?;
        let (servers, problems) = servers::servers(self)?;
        notices.extend(problems);
        notices.extend(wide_workspace::notice(&self.workspace, self.env.home().as_deref()));
        notices.extend(misnamed::notices(&permissions, &servers.keys().map(ToString::to_string).collect::<Vec<_>>())?);
        let (mut policy, looser) = policy::policy(self)?;
        policy.hidden.extend(hidden::hidden(self, std::env::consts::OS, permissions.mode.value)?);
        left_out.extend(looser);
        notices.extend(self.notice_of(left_out));
        Ok(Settings {
            place: self.place()?,
            endpoint: model_settings.endpoint,
            model: model_settings.model,
            table: model_settings.table,
            fallbacks: model_settings.fallbacks,
            role_models: model_settings.role_models,
            policy,
            dialects: ChosenDialects::of(self),
            agent: agents::chosen(self)?.name,
            system: system::system(self)?,
            project_instructions: system::project_instructions(self),
            instruction_folders: self.instruction_folders.clone(),
            permissions,
            servers,
            sandbox: sandbox::sandbox(self)?,
            fetch_private: fetching::private(self)?,
            command_env: command_env::command_env(self)?,
            notices,
        })
    }

    fn data_dir(&self) -> Result<Sourced<PathBuf>, SettingsError> {
        let variable = "WINDLASS_DATA_DIR";
        let given = Sourced::flag("data_dir", self.flags.data_dir.clone()).or_else(|| {
            let path = self.env.raw(variable)?;
            Some(Sourced::new(path.into(), SettingOrigin::Variable(variable.into())))
        });
        if let Some(given) = given {
            return Ok(Sourced::new(self.cwd.join(given.value), given.origin));
        }
        for file in [&self.project, &self.user].into_iter().flatten() {
            if let Some(path) = file.sourced(&file.settings.data_dir) {
                let whole = file.folder().join(sources::from_home(&path.value, &self.env));
                return Ok(Sourced::new(whole, path.origin));
            }
        }
        let default = self.env.windlass_folder("XDG_DATA_HOME", ".local/share").ok_or(SettingsError::NoDataDir)?;
        Ok(Sourced::new(default, SettingOrigin::Default))
    }

    fn durability(&self) -> Result<Sourced<DurabilitySetting>, SettingsError> {
        let flag = Sourced::flag("durability", self.flags.durability);
        let variable = self.env.parsed("WINDLASS_DURABILITY", DurabilitySetting::parsed)?;
        if let Some(given) = flag.or(variable) {
            return Ok(given);
        }
        let in_file = |file: &Option<SettingsFile>| file.as_ref()?.sourced(&file.as_ref()?.settings.durability);
        let named = in_file(&self.project).or_else(|| in_file(&self.user));
        Ok(named.unwrap_or_else(|| Sourced::new(DurabilitySetting::default(), SettingOrigin::Default)))
    }

    /// Returns the value of the project's file, or else of the user's.
    fn in_files<T>(&self, look: impl Fn(&SettingsFile) -> Option<Sourced<T>>) -> Option<Sourced<T>> {
        [&self.project, &self.user].into_iter().flatten().find_map(look)
    }
}

#[cfg(test)]
mod tests;
