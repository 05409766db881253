//! Gathering what an agent needs.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_machine::{PRESETS, preset};
use windlass_provider::openai::{OpenAiConfig, OpenAiError, OpenAiModel, ResponseFormat};
use windlass_provider::{HttpClient, HttpConfig, HttpError, Model, Secret};
use windlass_runtime::{Clock, Instructions, Models, Outside, Runtime, SystemClock};
use windlass_store::{MemoryStore, SqliteOptions, SqliteStore, Store, StoreError};
use windlass_tools::{
    Commands, GuardProgram, Mode, OutputSchema, ParseRuleError, Permissions, Registry, RegistryError, Rule, Secrets,
    Workspace, WorkspaceError, builtins, ending_tools,
};
use windlass_vocab::{Attendance, EndsBy, ModelName, Policy, PolicyPatch, ToolSource};

use crate::agent::Agent;
use crate::declaration::Approval;
use crate::output::{Output, expected};
use crate::typed::{BoundTool, IntoTool};

/// Something is missing or wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No model was named.
    #[error("no model is named; give one with `model`, or a whole one with `custom_model`")]
    NoModel,
    /// No server was named.
    #[error("no server is named; give its address with `base_url`")]
    NoBaseUrl,
    /// There is no such preset.
    #[error("there is no preset `{name}`; there are: {known}", known = PRESETS.join(", "))]
    Preset {
        /// What was asked for.
        name: String,
    },
    /// A permission rule makes no sense.
    #[error(transparent)]
    Rule(#[from] ParseRuleError),
    /// The workspace can't be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The data folder can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A tool can't be offered.
    #[error(transparent)]
    Tool(#[from] RegistryError),
    /// The output's schema can't be used.
    #[error("the schema of the output can't be used: {problem}")]
    Output {
        /// What is wrong with it.
        problem: String,
    },
    /// Runs end by a tool, whose words are the answer.
    #[error(
        "an output is asked for, but runs of this policy end by a tool; take a preset whose runs end by text, or set \
         `ends_by` to text and leave `ending` out of `tools`"
    )]
    OutputByTool,
    /// The server can't be used as it is named.
    #[error(transparent)]
    Server(#[from] OpenAiError),
    /// No HTTP client.
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// Where journals are kept.
#[derive(Clone)]
enum Keeping {
    Memory,
    Folder(PathBuf),
    Store(Arc<dyn Store>, PathBuf),
}

/// Gathers what an agent needs.
pub struct Builder<Deps = (), Output = String> {
    gathered: Gathered,
    deps: Arc<Deps>,
    output: PhantomData<fn() -> Output>,
}

/// Everything but the types.
#[derive(Clone)]
struct Gathered {
    name: String,
    base_url: Option<String>,
    api_key: Option<Secret>,
    model: Option<String>,
    custom_model: Option<(ModelName, Arc<dyn Model>)>,
    preset: String,
    whole_policy: Option<Policy>,
    patches: Vec<PolicyPatch>,
    workspace: Option<PathBuf>,
    keeping: Keeping,
    sqlite: SqliteOptions,
    tools: Vec<BoundTool>,
    response_format: Option<ResponseFormat>,
    system: Option<String>,
    permissions: Permissions,
    rules: Vec<(Side, String)>,
    secrets: Vec<(String, String)>,
    guard: Option<GuardProgram>,
    attendance: Attendance,
    deadline_ms: Option<u64>,
    owner: String,
    clock: Arc<dyn Clock>,
}

#[derive(Clone, Copy)]
enum Side {
    Allow,
    Deny,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            name: "Windlass".to_owned(),
            base_url: None,
            api_key: None,
            model: None,
            custom_model: None,
            preset: "default".to_owned(),
            whole_policy: None,
            patches: Vec::new(),
            workspace: None,
            keeping: Keeping::Memory,
            sqlite: SqliteOptions::default(),
            tools: Vec::new(),
            response_format: None,
            system: None,
            permissions: Permissions::default(),
            rules: Vec::new(),
            secrets: Vec::new(),
            guard: crate::own_guard(),
            attendance: Attendance::Unattended,
            deadline_ms: None,
            owner: "local".to_owned(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self { gathered: Gathered::default(), deps: Arc::new(()), output: PhantomData }
    }
}

impl<D, O> Clone for Builder<D, O> {
    fn clone(&self) -> Self {
        Self { gathered: self.gathered.clone(), deps: Arc::clone(&self.deps), output: PhantomData }
    }
}

impl<D, O> std::fmt::Debug for Builder<D, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gathered { name, model, .. } = &self.gathered;
        f.debug_struct("Builder").field("name", name).field("model", model).finish_non_exhaustive()
    }
}

/// One server that knows its models itself: a run taken up again names the model it began with,
/// whatever is configured now.
struct Server {
    config: OpenAiConfig,
    client: HttpClient,
    known: Mutex<HashMap<ModelName, Arc<dyn Model>>>,
}

impl Models for Server {
    fn model(&self, name: &ModelName) -> Option<Arc<dyn Model>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = known.get(name) {
            return Some(Arc::clone(model));
        }
        let config = OpenAiConfig { model: name.0.clone(), ..self.config.clone() };
        let model: Arc<dyn Model> = Arc::new(OpenAiModel::new(config, &self.client).ok()?);
        known.insert(name.clone(), Arc::clone(&model));
        Some(model)
    }
}

impl<D, O> Builder<D, O> {
    /// The agent's name, as it is told to the model.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.gathered.name = name.into();
        self
    }

    /// The address of an OpenAI-compatible server, e.g. `http://127.0.0.1:11434/v1`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.gathered.base_url = Some(url.into());
        self
    }

    /// The key for that server. It is a secret from here on (X1). An empty one is none.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.gathered.secrets.push(("api_key".to_owned(), key.clone()));
        self.gathered.api_key = (!key.trim().is_empty()).then(|| Secret::new(&key));
        self
    }

    /// The key for that server, known as a secret already.
    #[must_use]
    pub fn server_key(mut self, key: Secret) -> Self {
        self.gathered.api_key = Some(key);
        self
    }

    /// The model's id on that server.
    #[must_use]
    pub fn model(mut self, id: impl Into<String>) -> Self {
        self.gathered.model = Some(id.into());
        self
    }

    /// A model of your own in place of one behind a server.
    #[must_use]
    pub fn custom_model(mut self, name: impl Into<ModelName>, model: Arc<dyn Model>) -> Self {
        self.gathered.custom_model = Some((name.into(), model));
        self
    }

    /// The preset to start from; `default` unless said otherwise.
    #[must_use]
    pub fn preset(mut self, name: impl Into<String>) -> Self {
        self.gathered.preset = name.into();
        self
    }

    /// A whole policy, resolved already, in place of a preset.
    #[must_use]
    pub fn whole_policy(mut self, policy: Policy) -> Self {
        self.gathered.whole_policy = Some(policy);
        self
    }

    /// Settings laid over the preset; later ones over earlier ones.
    #[must_use]
    pub fn policy(mut self, patch: PolicyPatch) -> Self {
        self.gathered.patches.push(patch);
        self
    }

    /// The folder the file tools and commands work in. Without one they are not offered.
    #[must_use]
    pub fn workspace(mut self, dir: impl Into<PathBuf>) -> Self {
        self.gathered.workspace = Some(dir.into());
        self
    }

    /// The folder journals are kept in; without one they live in memory only.
    #[must_use]
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.gathered.keeping = Keeping::Folder(dir.into());
        self
    }

    /// How the data folder is opened.
    #[must_use]
    pub fn sqlite(mut self, options: SqliteOptions) -> Self {
        self.gathered.sqlite = options;
        self
    }

    /// A store of your own; the guards of commands keep their locks in `dir`.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>, dir: impl Into<PathBuf>) -> Self {
        self.gathered.keeping = Keeping::Store(store, dir.into());
        self
    }

    /// A tool of your own: a [`Function`](crate::Function), what [`typed`](crate::typed) gives, or any
    /// [`Tool`] in an `Arc`. The first two may run without asking unless they say otherwise: whoever gives
    /// an agent a tool of their own program means it to be used. What denies or asks by rule still does.
    #[must_use]
    pub fn tool(mut self, tool: impl IntoTool<D>) -> Self {
        self.gathered.tools.push(tool.into_tool(&self.deps));
        self
    }

    /// What runs end with, in place of words (L10): the model is asked for JSON that fits the type's
    /// schema, and what does not fit is sent back to it, as often as the policy's `output_corrections` says.
    #[must_use]
    pub fn output<T: Output>(self) -> Builder<D, T> {
        Builder { gathered: self.gathered, deps: self.deps, output: PhantomData }
    }

    /// When the server is told the output's schema, where what is known of the server doesn't fit.
    #[must_use]
    pub fn response_format(mut self, when: ResponseFormat) -> Self {
        self.gathered.response_format = Some(when);
        self
    }

    /// Instructions in place of those Windlass gives.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.gathered.system = Some(text.into());
        self
    }

    /// What may run, whole.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.gathered.permissions = permissions;
        self
    }

    /// Lets calls like this run without asking, e.g. `run_command(cargo *)`.
    #[must_use]
    pub fn allow(mut self, rule: impl Into<String>) -> Self {
        self.gathered.rules.push((Side::Allow, rule.into()));
        self
    }

    /// Forbids calls like this.
    #[must_use]
    pub fn deny(mut self, rule: impl Into<String>) -> Self {
        self.gathered.rules.push((Side::Deny, rule.into()));
        self
    }

    /// Secrets that must never reach the model, the journal, a command or an error: name and value.
    #[must_use]
    pub fn secrets(mut self, secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        self.gathered.secrets.extend(secrets);
        self
    }

    /// Another program as the guard of commands; this one, if [`crate::init`] was called.
    #[must_use]
    pub fn guard(mut self, guard: GuardProgram) -> Self {
        self.gathered.guard = Some(guard);
        self
    }

    /// Whether somebody answers questions.
    #[must_use]
    pub fn attendance(mut self, attendance: Attendance) -> Self {
        self.gathered.attendance = attendance;
        self
    }

    /// How long a run may take, in milliseconds.
    #[must_use]
    pub fn deadline_ms(mut self, ms: Option<u64>) -> Self {
        self.gathered.deadline_ms = ms;
        self
    }

    /// How long a run may take; then it is stopped as by a person.
    #[must_use]
    pub fn deadline(self, after: Duration) -> Self {
        self.deadline_ms(Some(u64::try_from(after.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Whose sessions these are; `local` unless said otherwise.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.gathered.owner = owner.into();
        self
    }

    /// Another clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.gathered.clock = clock;
        self
    }
}

impl<O> Builder<(), O> {
    /// What the agent's tools work with. Tools that need it are added after it.
    #[must_use]
    pub fn deps<D: Send + Sync + 'static>(self, deps: D) -> Builder<D, O> {
        Builder { gathered: self.gathered, deps: Arc::new(deps), output: PhantomData }
    }
}

impl<D, O: Output> Builder<D, O> {
    /// The agent.
    pub fn build(self) -> Result<Agent<D, O>, BuildError> {
        let Self { mut gathered, deps, .. } = self;
        let output = expected::<O>();
        let policy = gathered.take_policy()?;
        if let Some(expected) = &output {
            OutputSchema::new(&expected.spec.schema).map_err(|problem| BuildError::Output { problem })?;
            if policy.ends_by == EndsBy::EndingTool || policy.tools.contains(&ToolSource::Ending) {
                return Err(BuildError::OutputByTool);
            }
        }
        let (model_name, models) = gathered.take_models()?;
        let secrets = Arc::new(Secrets::new(std::mem::take(&mut gathered.secrets)));
        let (store, data_dir) = gathered.open_store()?;
        let guard_locks = data_dir.as_ref().map(|dir| dir.join("guards"));
        let registry = gathered.registry(&secrets, data_dir.as_deref(), guard_locks.as_deref())?;
        let permissions = gathered.take_permissions()?;
        let outside = Outside { store, models, registry, secrets, clock: gathered.clock, guard_locks };
        let workspace = gathered.workspace.as_ref().map(|dir| dir.display().to_string());
        let terms = windlass_runtime::Agent {
            name: gathered.name,
            policy,
            chain: vec![model_name],
            instructions: Instructions { system: gathered.system, workspace: gathered.workspace },
            permissions: Arc::new(permissions),
            deadline_ms: gathered.deadline_ms,
            attendance: gathered.attendance,
            output,
        };
        let runtime = Runtime::new(outside);
        Ok(Agent { runtime, terms, owner: gathered.owner, workspace, deps, output: PhantomData })
    }
}

impl Gathered {
    fn take_policy(&mut self) -> Result<Policy, BuildError> {
        let of_preset = || preset(&self.preset).ok_or_else(|| BuildError::Preset { name: self.preset.clone() });
        let mut policy = self.whole_policy.take().map_or_else(of_preset, Ok)?;
        for patch in &self.patches {
            policy = policy.with(patch);
        }
        Ok(policy)
    }

    fn take_models(&mut self) -> Result<(ModelName, Arc<dyn Models>), BuildError> {
        if let Some((name, model)) = self.custom_model.take() {
            return Ok((name.clone(), Arc::new(HashMap::from([(name, model)]))));
        }
        let id = self.model.take().ok_or(BuildError::NoModel)?;
        let url = self.base_url.take().ok_or(BuildError::NoBaseUrl)?;
        let usual = OpenAiConfig::new(url, &id);
        let response_format = self.response_format.unwrap_or(usual.response_format);
        let config = OpenAiConfig { api_key: self.api_key.take(), response_format, ..usual };
        let client = HttpClient::new(HttpConfig::default())?;
        let name = ModelName(id);
        let model: Arc<dyn Model> = Arc::new(OpenAiModel::new(config.clone(), &client)?);
        let known = Mutex::new(HashMap::from([(name.clone(), model)]));
        Ok((name, Arc::new(Server { config, client, known })))
    }

    fn open_store(&self) -> Result<(Arc<dyn Store>, Option<PathBuf>), BuildError> {
        Ok(match &self.keeping {
            Keeping::Memory => (Arc::new(MemoryStore::new()), None),
            Keeping::Store(store, dir) => (Arc::clone(store), Some(dir.clone())),
            Keeping::Folder(dir) => (Arc::new(SqliteStore::open(dir, self.sqlite.clone())?), Some(dir.clone())),
        })
    }

    fn registry(
        &mut self,
        secrets: &Secrets,
        data_dir: Option<&Path>,
        guard_locks: Option<&Path>,
    ) -> Result<Registry, BuildError> {
        let mut registry = Registry::new();
        if let Some(dir) = &self.workspace {
            let workspace = Workspace::open(dir)?;
            // The journal is written by the driver alone.
            let workspace = Arc::new(match data_dir {
                Some(data_dir) => workspace.without(data_dir)?,
                None => workspace,
            });
            let lock_dir = guard_locks.map_or_else(std::env::temp_dir, Path::to_owned);
            let mut commands = Commands::new(self.guard.take(), lock_dir);
            commands.secrets = secrets.clone();
            for tool in builtins(workspace, commands) {
                registry.add(tool)?;
            }
        }
        for tool in ending_tools().into_iter().chain(self.tools.iter().map(|bound| Arc::clone(&bound.tool))) {
            registry.add(tool)?;
        }
        Ok(registry)
    }

    fn take_permissions(&mut self) -> Result<Permissions, BuildError> {
        let mut permissions = std::mem::take(&mut self.permissions);
        for (side, text) in self.rules.drain(..) {
            let rule: Rule = text.parse()?;
            match side {
                Side::Allow => permissions.allow.push(rule),
                Side::Deny => permissions.deny.push(rule),
            }
        }
        for bound in self.tools.drain(..) {
            match (bound.approval, permissions.mode) {
                (Approval::Given, Mode::Default) => permissions.allow.push(bound.name.as_str().parse()?),
                (Approval::Asked, _) => permissions.ask.push(bound.name.as_str().parse()?),
                (Approval::Given, Mode::Strict | Mode::Bypass) | (Approval::ByRules, _) => {}
            }
        }
        Ok(permissions)
    }
}
