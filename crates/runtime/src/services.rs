//! What sessions share: everything the driver needs of the world.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use windlass_provider::Model;
use windlass_store::Store;
use windlass_tools::{Permissions, Registry, Secrets, Workspace};
use windlass_vocab::{Attendance, ModelName, Policy};

use crate::clock::Clock;
use crate::output::ExpectedOutput;
use crate::prefix::Instructions;

/// Where models come from. Names are stored with a run; endpoints and keys are resolved afresh.
pub trait Models: Send + Sync {
    /// The model of this name, if there is one.
    fn model(&self, name: &ModelName) -> Option<Arc<dyn Model>>;
}

impl Models for HashMap<ModelName, Arc<dyn Model>> {
    fn model(&self, name: &ModelName) -> Option<Arc<dyn Model>> {
        self.get(name).cloned()
    }
}

/// The world as sessions see it.
pub struct Services {
    /// Where journals live.
    pub store: Arc<dyn Store>,
    /// The models, by name.
    pub models: Arc<dyn Models>,
    /// The tools.
    pub registry: Registry,
    /// What never leaves.
    pub secrets: Arc<Secrets>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where the guards of commands keep their locks; waited for when a run is taken up (T7).
    pub guard_locks: Option<PathBuf>,
    /// The folder that calls change and undo puts back (T9).
    pub workspace: Option<Arc<Workspace>>,
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

/// What a session's new runs are begun with.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The agent's name.
    pub name: String,
    /// The rules, resolved.
    pub policy: Policy,
    /// The models to try, in order.
    pub chain: Vec<ModelName>,
    /// What stands before every conversation.
    pub instructions: Instructions,
    /// What may run.
    pub permissions: Arc<Permissions>,
    /// How long a run may take, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// What runs must end with, where plain text is not enough.
    pub output: Option<ExpectedOutput>,
    /// The server its models are reached at, where there is one.
    pub server: Option<String>,
}
