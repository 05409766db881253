//! What a builder has gathered, apart from its types, and what it comes to.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_machine::preset;
use windlass_provider::openai::{OpenAiConfig, OpenAiModel, ResponseFormat};
use windlass_provider::{HttpClient, HttpConfig, Model, Secret};
use windlass_runtime::{Clock, Models, SystemClock};
use windlass_sandbox::Surroundings;
use windlass_store::{MemoryStore, SqliteOptions, SqliteStore, Store};
use windlass_tools::{
    Commands, Fetching, GuardProgram, HostPattern, Mode, Permissions, Registry, Rule, Sandbox, Secrets, ToolServers,
    Workspace, builtins, ending_tools, fetch_url,
};
use windlass_vocab::{Attendance, ModelName, Policy, PolicyPatch};

use crate::builder::BuildError;
use crate::declaration::Approval;
use crate::typed::BoundTool;

/// Where journals are kept.
#[derive(Clone)]
pub(crate) enum Keeping {
    Memory,
    Folder(PathBuf),
    Store(Arc<dyn Store>, PathBuf),
}

/// Everything but the types.
#[derive(Clone)]
pub(crate) struct Gathered {
    pub(crate) name: String,
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: Option<Secret>,
    pub(crate) model: Option<String>,
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
            base_url: None,
            api_key: None,
            model: None,
            custom_model: None,
            named_models: HashMap::new(),
            preset: "default".to_owned(),
            whole_policy: None,
            patches: Vec::new(),
            workspace: None,
            keeping: Keeping::Memory,
            sqlite: SqliteOptions::default(),
            tools: Vec::new(),
            servers: None,
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

    pub(crate) fn take_models(&mut self) -> Result<(ModelName, Arc<dyn Models>), BuildError> {
        let mut known = std::mem::take(&mut self.named_models);
        if let Some((name, model)) = self.custom_model.take() {
            known.insert(name.clone(), model);
            return Ok((name, Arc::new(known)));
        }
        let id = self.model.take().ok_or(BuildError::NoModel)?;
        let url = self.base_url.take().ok_or(BuildError::NoBaseUrl)?;
        let usual = OpenAiConfig::new(url, &id);
        let response_format = self.response_format.unwrap_or(usual.response_format);
        let config = OpenAiConfig { api_key: self.api_key.take(), response_format, ..usual };
        let client = HttpClient::new(HttpConfig::default())?;
        let name = ModelName(id);
        let model: Arc<dyn Model> = Arc::new(OpenAiModel::new(config.clone(), &client)?);
        known.entry(name.clone()).or_insert(model);
        Ok((name, Arc::new(Server { config, client, known: Mutex::new(known) })))
    }

    pub(crate) fn open_store(&self) -> Result<(Arc<dyn Store>, Option<PathBuf>), BuildError> {
        Ok(match &self.keeping {
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
            let mut commands = Commands::new(self.guard.take(), lock_dir);
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
        if let Some(servers) = self.servers.take() {
            registry.serve(servers);
        }
        Ok((registry, opened))
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
