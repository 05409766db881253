//! Builds an agent from the settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass::door::{ModelFigures, PROVIDERS, ResolvedModel};
use windlass::{Agent, BuildError, Builder};
use windlass_provider::{DeclaredModel, Secret};
use windlass_store::Store;
use windlass_vocab::{ModelName, ModelRole};

use crate::demo;
use crate::models::{DEMO, questions};
use crate::permissions::permissions;
use crate::run_setup::RunSetup;
use crate::settings::{FallbackModel, ModelEndpoint, SettingOrigin, Settings, SettingsError, Sources};
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
    Ok(builder(setup, store, model)?.build()?)
}

/// Like [`build`], for a door that adds something to it.
pub(crate) fn builder(setup: &RunSetup, store: Arc<dyn Store>, model: &ModelName) -> Result<Builder, AgentError> {
    let settings = &setup.settings;
    let demo = demo::model(test_hooks::clock(), setup.demo_words);
    let mut builder = Agent::builder()
        .name(&settings.agent)
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
    builder = with_system(builder, settings);
    if let Some(file) = &setup.context_files.user {
        builder = builder.user_instructions(file.clone());
    }
    if let Some(servers) = setup.servers.known() {
        builder = builder.tool_servers(Arc::new(servers.clone()));
    }
    // A run that began with the demo model is resumed with it, whatever is configured now.
    Ok(match &settings.endpoint {
        Some(endpoint) => {
            let models = learned_chain(setup, model);
            models.iter().try_for_each(has_key)?;
            for (role, mut models) in role_chains(settings, endpoint) {
                models.iter().try_for_each(has_key)?;
                questions::fill_in(&mut models, &setup.learned);
                builder = builder.resolved_role_models(role, models);
            }
            builder.resolved_models(models).named_model(DEMO, demo)
        }
        None if model.as_str() == DEMO => builder.custom_model(DEMO, demo),
        None => return Err(SettingsError::NoServer.into()),
    })
}

/// Sets the system prompt: one given for this session is the session's own, which it keeps (C2).
fn with_system(builder: Builder, settings: &Settings) -> Builder {
    match &settings.system {
        Some(system) if matches!(system.origin, SettingOrigin::Flag(_)) => builder.session_system(&system.value),
        Some(system) => builder.system(&system.value),
        None => builder,
    }
}

/// Refuses a model at a provider's own address without a key: every call would be refused.
pub fn has_key(model: &ResolvedModel) -> Result<(), SettingsError> {
    let provider = PROVIDERS.into_iter().find(|provider| provider.base_url == model.base_url);
    match provider.and_then(|provider| Some((provider.name, provider.key_variable.or(provider.shared_key_variable)?))) {
        Some((provider, variable)) if model.key.is_none() => {
            Err(SettingsError::NoKey { model: model.name.as_str().to_owned(), provider, variable })
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the chain of runs whose first model is this one.
#[must_use]
pub fn chain(settings: &Settings, endpoint: &ModelEndpoint, model: &ModelName) -> Vec<ResolvedModel> {
    let table = settings.table_of(model);
    let (name, figures) = table.map_or((model, ModelFigures::default()), |table| (&table.name, table.figures));
    let mut chain = vec![resolved(name, model.as_str(), endpoint, settings.dialects.applied_to(figures))];
    chain.extend(settings.fallbacks.iter().map(|model| later(settings, model, endpoint)));
    chain
}

/// Returns the chains of other roles than the turn's; `endpoint` is the server of the first model.
#[must_use]
pub fn role_chains(settings: &Settings, endpoint: &ModelEndpoint) -> BTreeMap<ModelRole, Vec<ResolvedModel>> {
    let models = |models: &Vec<FallbackModel>| models.iter().map(|model| later(settings, model, endpoint)).collect();
    settings.role_models.iter().map(|(role, chain)| (*role, models(chain))).collect()
}

/// Returns the models with names of their own, by name, as a chain would have them; one that can't be used has its reason.
#[must_use]
pub fn own_models(sources: &Sources, settings: &Settings) -> BTreeMap<String, Result<ResolvedModel, SettingsError>> {
    let first = settings.endpoint.as_ref();
    let resolved = |model: FallbackModel| {
        let endpoint = model.endpoint.as_ref().or(first).ok_or(SettingsError::NoServer)?;
        Ok(resolved(&model.name.value, &model.id, endpoint, model.figures))
    };
    let models = sources.own_models(first).into_iter();
    models.map(|(name, model)| (name, model.and_then(resolved))).collect()
}

fn later(settings: &Settings, model: &FallbackModel, first: &ModelEndpoint) -> ResolvedModel {
    let FallbackModel { name, id, endpoint, figures } = model;
    resolved(&name.value, id, endpoint.as_ref().unwrap_or(first), settings.dialects.applied_to(*figures))
}

fn resolved(name: &ModelName, id: &str, endpoint: &ModelEndpoint, figures: ModelFigures) -> ResolvedModel {
    ResolvedModel {
        name: name.clone(),
        server: endpoint.kind(),
        base_url: endpoint.base_url.value.clone(),
        id: id.to_owned(),
        key: endpoint.api_key.as_ref().map(|key| Secret::new(key.value.expose())),
        figures,
        declared: DeclaredModel::default(),
    }
}

/// Returns the chain of runs whose first model is this one, with what is known of its models; empty without a server.
#[must_use]
pub fn learned_chain(setup: &RunSetup, model: &ModelName) -> Vec<ResolvedModel> {
    let endpoint = setup.settings.endpoint.as_ref();
    let mut chain = endpoint.map_or_else(Vec::new, |endpoint| chain(&setup.settings, endpoint, model));
    questions::fill_in(&mut chain, &setup.learned);
    chain
}
