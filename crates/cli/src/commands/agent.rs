//! From settings to an agent.

use std::sync::Arc;

use windlass::provider::Secret;
use windlass::store::{SessionLog as _, SqliteOptions, SqliteStore, Store, StoreError};
use windlass::tools::{Mode, Permissions, Rule};
use windlass::vocab::ModelName;
use windlass::{Agent, BuildError};

use super::streams::tell;
use super::{CommandError, Job};
use crate::args;
use crate::crash;
use crate::demo;
use crate::exit::Exit;
use crate::models::DEMO;
use crate::settings::{self, Place, SettingsError, Sourced};

/// Opens the data folder.
pub(super) fn open_store(place: &Place) -> Result<Arc<dyn Store>, CommandError> {
    Ok(Arc::new(SqliteStore::open(&place.data_dir.value, crash::with_failpoints(sqlite_options(place)))?))
}

/// Opens the data folder; where it can't be written, for reading.
pub(super) fn open_store_to_read(place: &Place) -> Result<Arc<SqliteStore>, CommandError> {
    let folder = &place.data_dir.value;
    let opened = match SqliteStore::open(folder, crash::with_failpoints(sqlite_options(place))) {
        Err(unwritable @ (StoreError::ReadOnly { .. } | StoreError::Full { .. })) => {
            match SqliteStore::open_read_only(folder, &std::env::temp_dir()) {
                // There is nothing to read.
                Err(StoreError::Io { .. }) => Err(unwritable),
                opened => opened,
            }
        }
        opened => opened,
    };
    Ok(Arc::new(opened?))
}

/// The same for whoever shows what is there: where commits are missing they are told that it is not all.
pub(super) fn open_store_to_show(place: &Place) -> Result<Arc<SqliteStore>, CommandError> {
    let store = open_store_to_read(place)?;
    if let Some(loss) = store.loss() {
        tell(&format!("windlass: {loss}"));
    }
    Ok(store)
}

fn sqlite_options(place: &Place) -> SqliteOptions {
    let durability = match place.durability.value {
        args::Durability::Full => windlass::store::Durability::Full,
        args::Durability::Normal => windlass::store::Durability::Normal,
    };
    SqliteOptions { durability, ..SqliteOptions::default() }
}

/// The agent these settings describe, for runs with this model.
pub(crate) fn build(job: &Job, store: Arc<dyn Store>, model: &ModelName) -> Result<Agent, CommandError> {
    let settings = &job.settings;
    let demo = demo::model(crash::clock());
    let mut builder = Agent::builder()
        .name("Windlass")
        .whole_policy(settings.policy.clone())
        .workspace(&settings.place.workspace)
        .closed(settings.place.closed.iter().cloned())
        .store(store, &settings.place.data_dir.value)
        .permissions(permissions(&settings.permissions))
        .sandbox(settings.sandbox.surroundings(&settings.place))
        .fetch_private(settings.fetch_private.iter().map(|host| host.value.clone()))
        .secrets(job.secrets.iter().map(|secret| (secret.name.clone(), secret.value.clone())))
        .hide_env(settings.command_env.hide.iter().cloned())
        .keep_env(settings.command_env.keep.iter().cloned())
        .attendance(job.attendance)
        .deadline_ms(job.deadline.map(|deadline| u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX)))
        .clock(crash::clock());
    if let Some(servers) = job.servers.known() {
        builder = builder.tool_servers(Arc::new(servers.clone()));
    }
    // A run of the demo model is taken up by it, whatever is configured now.
    builder = match &settings.endpoint {
        Some(endpoint) => {
            builder = builder.base_url(&endpoint.base_url.value).model(&model.0).named_model(DEMO, demo);
            match &endpoint.api_key {
                Some(key) => builder.server_key(Secret::new(key.value.expose())),
                None => builder,
            }
        }
        None if model.as_str() == DEMO => builder.custom_model(DEMO, demo),
        None => return Err(SettingsError::NoServer.into()),
    };
    builder.build().map_err(CommandError::from)
}

/// The rules as tools are judged by them.
pub(crate) fn permissions(given: &settings::Permissions) -> Permissions {
    let rules = |rules: &[Sourced<Rule>]| rules.iter().map(|rule| rule.value.clone()).collect();
    let mode = match given.mode.value {
        args::Mode::Default => Mode::Default,
        args::Mode::Strict => Mode::Strict,
        args::Mode::Bypass => Mode::Bypass,
    };
    let protected = given.protected.clone();
    Permissions { mode, allow: rules(&given.allow), ask: rules(&given.ask), deny: rules(&given.deny), protected }
}

impl From<BuildError> for CommandError {
    fn from(error: BuildError) -> Self {
        let exit = match &error {
            BuildError::Store(_) => Exit::Store,
            BuildError::NoModel
            | BuildError::NoBaseUrl
            | BuildError::Preset { .. }
            | BuildError::Server(_)
            | BuildError::Rule(_)
            | BuildError::Workspace(_) => Exit::Usage,
            // The library may grow errors of its own, and so has no last one.
            BuildError::Tool(_) | BuildError::Http(_) | _ => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}
