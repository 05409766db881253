//! Builds an agent from the settings.

use std::sync::Arc;

use windlass::{Agent, BuildError};
use windlass_provider::Secret;
use windlass_store::Store;
use windlass_vocab::ModelName;

use crate::demo;
use crate::models::DEMO;
use crate::permissions::permissions;
use crate::run_setup::RunSetup;
use crate::settings::SettingsError;
use crate::test_hooks;

/// Why the agent can't be built.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The settings name no model server.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The server, model or tools that the settings name can't be used.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Builds the agent that these settings describe, for runs with this model.
pub fn build(setup: &RunSetup, store: Arc<dyn Store>, model: &ModelName) -> Result<Agent, AgentError> {
    let settings = &setup.settings;
    let demo = demo::model(test_hooks::clock(), setup.demo_words);
    let mut builder = Agent::builder()
        .name("Windlass")
        .whole_policy(settings.policy.clone())
        .workspace(&settings.place.workspace)
        .closed(settings.place.closed.iter().cloned())
        .store(store, &settings.place.data_dir.value)
        .permissions(permissions(&settings.permissions))
        .sandbox(settings.sandbox.surroundings(&settings.place))
        .fetch_private(settings.fetch_private.iter().map(|host| host.value.clone()))
        .secrets(setup.secrets.iter().map(|secret| (secret.name.clone(), secret.value.clone())))
        .hide_env(settings.command_env.hide.iter().cloned())
        .keep_env(settings.command_env.keep.iter().cloned())
        .attendance(setup.attendance)
        .deadline_ms(setup.deadline.map(|deadline| u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX)))
        .project_instructions(setup.context_files.project.clone())
        .skills(setup.context_files.skills.iter().cloned())
        .clock(test_hooks::clock());
    if let Some(system) = &settings.system {
        builder = builder.system(&system.value);
    }
    if let Some(file) = &setup.context_files.user {
        builder = builder.user_instructions(file.clone());
    }
    if let Some(servers) = setup.servers.known() {
        builder = builder.tool_servers(Arc::new(servers.clone()));
    }
    // A run that began with the demo model is resumed with it, whatever is configured now.
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
    Ok(builder.build()?)
}
