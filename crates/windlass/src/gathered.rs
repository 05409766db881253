//! What a builder has gathered, apart from its types, and what it comes to.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_machine::preset;
#[cfg(feature = "mcp")]
use windlass_mcp::ServerConfig;
use windlass_provider::openai::{OpenAiConfig, OpenAiModel, ResponseFormat};
use windlass_provider::{HttpClient, HttpConfig, Model};
use windlass_runtime::{Clock, Models, SystemClock};
use windlass_sandbox::Surroundings;
use windlass_store::{MemoryStore, SqliteOptions, SqliteStore, Store};
use windlass_tools::{
    Commands, Fetching, GuardProgram, HostPattern, Mode, Permissions, Registry, Rule, Sandbox, Secrets, ToolServers,
    Workspace, builtins, ending_tools, fetch_url,
};
use windlass_vocab::{Attendance, ModelName, Policy, PolicyPatch};

use crate::asking::QuestionHandler;
use crate::builder::BuildError;
use crate::declaration::Approval;
use crate::environment::Environment;
#[cfg(feature = "mcp")]
use crate::mcp_servers::{Shared, servers};
use crate::model_name::{ModelRequest, ServedModel, served};
use crate::typed::BoundTool;

/// Where journals are kept.
#[derive(Clone)]
pub(crate) enum Keeping {
    /// Nothing was said.
    Default,
    Memory,
    Folder(PathBuf),
    Store(Arc<dyn Store>, PathBuf),
}

/// The folder journals are kept in where none is named, in the current folder.
const DEFAULT_FOLDER: &str = "windlass-data";

/// Everything but the types.
#[derive(Clone)]
pub(crate) struct Gathered {
    pub(crate) name: String,
    pub(crate) model: ModelRequest,
    pub(crate) environment: Environment,
    pub(crate) custom_model: Option<(ModelName, Arc<dyn Model>)>,
    pub(crate) named_models: HashMap<ModelName, Arc<dyn Model>>,
    pub(crate) preset: String,
    pub(crate) whole_policy: Option<Policy>,
    pub(crate) patches: Vec<PolicyPatch>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) keeping: Keeping,
    pub(crate) sqlite: SqliteOptions,
    pub(crate) tools: Vec<BoundTool>,
    pub(crate) servers: Option<Arc<dyn ToolServers>>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp_servers: Vec<(String, ServerConfig)>,
    pub(crate) on_question: Option<QuestionHandler>,
    pub(crate) response_format: Option<ResponseFormat>,
    pub(crate) system: Option<String>,
    pub(crate) permissions: Permissions,
    pub(crate) rules: Vec<(Side, String)>,
    pub(crate) sandbox: Option<Surroundings>,
    pub(crate) fetch_private: Vec<HostPattern>,
    pub(crate) closed: Vec<PathBuf>,
    pub(crate) secrets: Vec<(String, String)>,
    pub(crate) hide_env: BTreeSet<String>,
    pub(crate) keep_env: BTreeSet<String>,
    pub(crate) guard: Option<GuardProgram>,
    pub(crate) attendance: Attendance,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) owner: String,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Which side of the permissions a rule stands on.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Allow,
    Deny,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            name: "Windlass".to_owned(),
            model: ModelRequest::default(),
            environment: Environment::default(),
            custom_model: None,
            named_models: HashMap::new(),
            preset: "default".to_owned(),
            whole_policy: None,
            patches: Vec::new(),
            workspace: None,
            keeping: Keeping::Default,
            sqlite: SqliteOptions::default(),
            tools: Vec::new(),
            servers: None,
            #[cfg(feature = "mcp")]
            mcp_servers: Vec::new(),
            on_question: None,
            response_format: None,
            system: None,
            permissions: Permissions::default(),
            rules: Vec::new(),
            sandbox: None,
            fetch_private: Vec::new(),
            closed: Vec::new(),
            secrets: Vec::new(),
            hide_env: BTreeSet::new(),
            keep_env: BTreeSet::new(),
            guard: crate::own_guard(),
            attendance: Attendance::Unattended,
            deadline_ms: None,
            owner: "local".to_owned(),
            clock: Arc::new(SystemClock),
        }
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

impl Gathered {
    pub(crate) fn take_policy(&mut self) -> Result<Policy, BuildError> {
        let of_preset = || preset(&self.preset).ok_or_else(|| BuildError::Preset { name: self.preset.clone() });
        let mut policy = match (self.whole_policy.take(), self.attendance) {
            (Some(policy), _) => policy,
            (None, Attendance::Unattended) => of_preset()?,
            // A person is never kept waiting for a server (P2).
            (None, Attendance::Attended) => Policy { server_wait_ms: 0, ..of_preset()? },
        };
        for patch in &self.patches {
            policy = policy.with(patch);
        }
        Ok(policy)
    }

    /// Whether somebody answers the questions of runs.
    pub(crate) fn attendance_of_runs(&self) -> Attendance {
        if self.on_question.is_some() { Attendance::Attended } else { self.attendance }
    }

    /// The model's name, all models by name, and the address of their server.
    pub(crate) fn take_models(&mut self) -> Result<(ModelName, Arc<dyn Models>, Option<String>), BuildError> {
        let mut known = std::mem::take(&mut self.named_models);
        let request = std::mem::take(&mut self.model);
        if let Some((name, model)) = self.custom_model.take() {
            known.insert(name.clone(), model);
            return Ok((name, Arc::new(known), request.base_url));
        }
        let ServedModel { base_url, id, key } = served(request, &self.environment)?;
        let usual = OpenAiConfig::new(&base_url, &id);
        let response_format = self.response_format.unwrap_or(usual.response_format);
        let config = OpenAiConfig { api_key: key, response_format, ..usual };
        let client = HttpClient::new(HttpConfig::default())?;
        let name = ModelName(id);
        let model: Arc<dyn Model> = Arc::new(OpenAiModel::new(config.clone(), &client)?);
        known.entry(name.clone()).or_insert(model);
        Ok((name, Arc::new(Server { config, client, known: Mutex::new(known) }), Some(base_url)))
    }

    pub(crate) fn open_store(&self) -> Result<(Arc<dyn Store>, Option<PathBuf>), BuildError> {
        let default = Path::new(DEFAULT_FOLDER);
        Ok(match &self.keeping {
            Keeping::Default => (Arc::new(SqliteStore::open(default, self.sqlite.clone())?), Some(default.to_owned())),
            Keeping::Memory => (Arc::new(MemoryStore::new()), None),
            Keeping::Store(store, dir) => (Arc::clone(store), Some(dir.clone())),
            Keeping::Folder(dir) => (Arc::new(SqliteStore::open(dir, self.sqlite.clone())?), Some(dir.clone())),
        })
    }

    pub(crate) fn registry(
        &mut self,
        secrets: &Secrets,
        permissions: &Permissions,
        data_dir: Option<&Path>,
        guard_locks: Option<&Path>,
    ) -> Result<(Registry, Option<Arc<Workspace>>), BuildError> {
        let mut registry = Registry::new();
        let mut opened = None;
        if let Some(dir) = &self.workspace {
            // The journal is written by the driver alone.
            let closed = || data_dir.into_iter().chain(self.closed.iter().map(PathBuf::as_path));
            let workspace = closed().try_fold(Workspace::open(dir)?, Workspace::without)?;
            let unreadable: Vec<PathBuf> = closed().map(Path::to_owned).collect();
            let workspace = Arc::new(workspace.hiding(secrets.clone()));
            opened = Some(Arc::clone(&workspace));
            let lock_dir = guard_locks.map_or_else(std::env::temp_dir, Path::to_owned);
            let mut commands = Commands::new(self.guard.clone(), lock_dir);
            commands.secrets = secrets.clone();
            commands.hide_env = std::mem::take(&mut self.hide_env);
            commands.keep_env = std::mem::take(&mut self.keep_env);
            commands.sandbox = self.sandbox.take().map(|mut surroundings| {
                surroundings.workspace = workspace.root().to_owned();
                surroundings.unreadable.extend(unreadable);
                Sandbox::new(surroundings, Arc::new(permissions.clone()))
            });
            let private = std::mem::take(&mut self.fetch_private);
            let fetch = fetch_url(Fetching { private, permissions: permissions.clone(), secrets: secrets.clone() });
            for tool in builtins(workspace, commands).into_iter().chain([fetch]) {
                registry.add(tool)?;
            }
        }
        for tool in ending_tools().into_iter().chain(self.tools.drain(..).map(|bound| bound.tool)) {
            registry.add(tool)?;
        }
        if let Some(servers) = self.take_servers(secrets, data_dir)? {
            registry.serve(servers);
        }
        Ok((registry, opened))
    }

    #[cfg(feature = "mcp")]
    fn take_servers(
        &mut self,
        secrets: &Secrets,
        data_dir: Option<&Path>,
    ) -> Result<Option<Arc<dyn ToolServers>>, BuildError> {
        let (guard, workspace) = (self.guard.clone(), self.workspace.clone());
        let shared = Shared { data_dir, guard, secrets, workspace };
        match (self.servers.take(), servers(std::mem::take(&mut self.mcp_servers), shared)?) {
            (Some(_), Some(_)) => Err(BuildError::TwoKindsOfServers),
            (given, named) => Ok(given.or(named)),
        }
    }

    #[cfg(not(feature = "mcp"))]
    fn take_servers(&mut self, _: &Secrets, _: Option<&Path>) -> Result<Option<Arc<dyn ToolServers>>, BuildError> {
        Ok(self.servers.take())
    }

    pub(crate) fn take_permissions(&mut self) -> Result<Permissions, BuildError> {
        let mut permissions = std::mem::take(&mut self.permissions);
        for (side, text) in self.rules.drain(..) {
            let rule: Rule = text.parse()?;
            match side {
                Side::Allow => permissions.allow.push(rule),
                Side::Deny => permissions.deny.push(rule),
            }
        }
        for bound in &self.tools {
            match (bound.approval, permissions.mode) {
                (Approval::Given, Mode::Default) => permissions.allow.push(bound.name.as_str().parse()?),
                (Approval::Asked, _) => permissions.ask.push(bound.name.as_str().parse()?),
                (Approval::Given, Mode::Strict | Mode::Bypass) | (Approval::ByRules, _) => {}
            }
        }
        Ok(permissions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves P2: a person is never kept waiting, unless whoever builds the agent says so
    #[test]
    fn an_attended_agent_waits_for_no_server_unless_it_is_told_to() {
        let wait = |attendance, patch: PolicyPatch| {
            let mut gathered = Gathered { attendance, patches: vec![patch], ..Gathered::default() };
            gathered.take_policy().map(|policy| policy.server_wait_ms).ok()
        };
        let told = PolicyPatch { server_wait_ms: Some(7), ..PolicyPatch::default() };
        assert_eq!(wait(Attendance::Unattended, PolicyPatch::default()), Some(5_000));
        assert_eq!(wait(Attendance::Attended, PolicyPatch::default()), Some(0));
        assert_eq!(wait(Attendance::Attended, told), Some(7));
    }
}
