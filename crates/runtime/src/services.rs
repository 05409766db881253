//! The services that sessions share: everything the driver needs from outside.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use windlass_provider::Model;
use windlass_store::{SpendingCounter, Store};
use windlass_tools::{Permissions, Registry, Secrets, Workspace};
use windlass_vocab::{Attendance, ModelName, ModelRole, Policy, RunModel, RunStarted};

use crate::breaker::Breakers;
use crate::clock::Clock;
use crate::output::ExpectedOutput;
use crate::prefix::Instructions;
use crate::retrieval::source::ContextSource;

/// Resolves model names. Names are stored with a run; endpoints and keys are resolved each time.
pub trait Models: Send + Sync {
    /// Returns the model of this name, if there is one.
    fn model(&self, name: &ModelName) -> Option<Arc<dyn Model>>;

    /// Returns the model with this name for a run that was to call it at `server`: one that is configured by its name,
    /// or one of that server. A model that is not configured any more is not looked for at other servers, to which
    /// nobody meant to send the conversation.
    fn model_at(&self, name: &ModelName, _server: &str) -> Option<Arc<dyn Model>> {
        self.model(name)
    }
}

impl Models for HashMap<ModelName, Arc<dyn Model>> {
    fn model(&self, name: &ModelName) -> Option<Arc<dyn Model>> {
        self.get(name).cloned()
    }
}

/// The services that sessions share.
pub struct Services {
    /// The store of the journals.
    pub store: Arc<dyn Store>,
    /// The models, by name.
    pub models: Arc<dyn Models>,
    /// The tools.
    pub registry: Registry,
    /// The secrets to replace in everything that is stored or displayed.
    pub secrets: Arc<Secrets>,
    /// Which models are not called for a while, because they failed.
    pub breakers: Breakers,
    /// Counts what other runs spend of limits that runs share.
    pub spending: SpendingCounter,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The folder with the locks of the commands' guard processes; resuming a run waits for them (T7).
    pub guard_locks: Option<PathBuf>,
    /// The folder that calls change and that undo restores (T9).
    pub workspace: Option<Arc<Workspace>>,
    /// The sources of passages for runs whose policy retrieves any (C10).
    pub context_sources: Vec<Arc<dyn ContextSource>>,
}

impl Services {
    /// Returns the model that a run calls by this name: where the settings now say, or at its recorded server
    /// if that is the settings' first.
    pub(crate) fn model_of(&self, run: &RunStarted, name: &ModelName) -> Option<Arc<dyn Model>> {
        match run.server_of(name) {
            Some(server) => self.models.model_at(name, server),
            None => self.models.model(name),
        }
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

/// The settings with which a session's new runs start.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The agent's name.
    pub name: String,
    /// The resolved policy.
    pub policy: Policy,
    /// The models to try, in order, and what is known of each.
    pub models: Vec<RunModel>,
    /// The models to try in other roles than the turn's, and what is known of each; a role that is absent uses `models`
    /// (M9).
    pub role_chains: BTreeMap<ModelRole, Vec<RunModel>>,
    /// The instructions before every conversation.
    pub instructions: Instructions,
    /// The permission rules for calls.
    pub permissions: Arc<Permissions>,
    /// How long a run may take, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// The output that runs must end with, where plain text is not enough.
    pub output: Option<ExpectedOutput>,
}

impl AgentSettings {
    /// Returns every model that a run may call, each once.
    pub(crate) fn callable_models(&self) -> Vec<RunModel> {
        let mut models = self.models.clone();
        for model in self.role_chains.values().flatten() {
            if !models.iter().any(|known| known.name == model.name) {
                models.push(model.clone());
            }
        }
        models
    }

    pub(crate) fn role_chain_names(&self) -> BTreeMap<ModelRole, Vec<ModelName>> {
        let names = |chain: &Vec<RunModel>| chain.iter().map(|model| model.name.clone()).collect();
        self.role_chains.iter().map(|(role, chain)| (*role, names(chain))).collect()
    }
}
