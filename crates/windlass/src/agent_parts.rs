//! The untyped parts that a builder has gathered, and how an agent is built from them.

#[cfg(feature = "commands")]
use std::collections::BTreeSet;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_machine::preset;
#[cfg(feature = "mcp")]
use windlass_mcp::ServerConfig;
use windlass_provider::{HttpClient, Model, ResponseFormat};
use windlass_runtime::{Clock, ContextSource, InstructionFile, LiveSessions, ProjectInstructions, SystemClock};
#[cfg(feature = "commands")]
use windlass_sandbox::Surroundings;
use windlass_store::{MemoryStore, Store};
#[cfg(feature = "sqlite")]
use windlass_store::{SqliteOptions, SqliteStore};
#[cfg(feature = "commands")]
use windlass_tools::{Commands, GuardProgram, Sandbox, builtins};
#[cfg(feature = "fetch")]
use windlass_tools::{FetchSettings, HostPattern, fetch_url};
use windlass_tools::{
    Mode, Permissions, Registry, Rule, Secrets, Skill, Tool, ToolServers, Workspace, ending_tools, file_tools,
    read_skill,
};
#[cfg(feature = "commands")]
use windlass_vocab::ToolSource;
use windlass_vocab::{Attendance, ModelName, ModelRole, Policy, PolicyPatch};

use crate::asking::QuestionHandler;
use crate::build_error::BuildError;
use crate::declaration::Approval;
use crate::environment::Environment;
#[cfg(feature = "mcp")]
use crate::mcp_servers::{ServerSurroundings, servers};
use crate::model_chain::{ChosenModels, RequestedChain};
use crate::model_name::RequestedModel;
use crate::resolved_model::ResolvedModel;
use crate::sources;
use crate::typed::BoundTool;

/// Where journals are stored.
#[derive(Clone)]
pub(crate) enum JournalPlace {
    /// Not specified.
    Default,
    Memory,
    #[cfg(feature = "sqlite")]
    Folder(PathBuf),
    Store(Arc<dyn Store>, PathBuf),
}

/// Default folder of the journals, in the current folder.
#[cfg(feature = "sqlite")]
const DEFAULT_FOLDER: &str = "windlass-data";

/// Everything a builder gathers, except `Deps` and `Output`.
#[derive(Clone)]
pub(crate) struct AgentParts {
    pub(crate) name: String,
    pub(crate) model: RequestedModel,
    /// The names of the models that follow in the chain.
    pub(crate) fallbacks: Vec<String>,
    /// The whole chain, where a door has resolved it.
    pub(crate) resolved_models: Vec<ResolvedModel>,
    /// The names of the models of other roles than the turn's.
    pub(crate) role_models: BTreeMap<ModelRole, Vec<String>>,
    /// The chains of other roles than the turn's, where a door has resolved them.
    pub(crate) resolved_role_models: BTreeMap<ModelRole, Vec<ResolvedModel>>,
    pub(crate) environment: Environment,
    /// The client whose connections are shared with other agents.
    pub(crate) http_client: Option<HttpClient>,
    pub(crate) custom_model: Option<(ModelName, Arc<dyn Model>)>,
    pub(crate) named_models: HashMap<ModelName, Arc<dyn Model>>,
    pub(crate) preset: String,
    pub(crate) whole_policy: Option<Policy>,
    pub(crate) patches: Vec<PolicyPatch>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) journal_place: JournalPlace,
    #[cfg(feature = "sqlite")]
    pub(crate) sqlite: SqliteOptions,
    pub(crate) tools: Vec<BoundTool>,
    pub(crate) servers: Option<Arc<dyn ToolServers>>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp_servers: Vec<(String, ServerConfig)>,
    pub(crate) on_question: Option<QuestionHandler>,
    pub(crate) response_format: Option<ResponseFormat>,
    pub(crate) system: Option<String>,
    pub(crate) session_system: Option<String>,
    pub(crate) user_instructions: Option<InstructionFile>,
    pub(crate) project_instructions: Option<ProjectInstructions>,
    pub(crate) skills: Vec<Skill>,
    pub(crate) context_sources: Vec<Arc<dyn ContextSource>>,
    pub(crate) permissions: Permissions,
    pub(crate) rules: Vec<(PermissionSide, String)>,
    #[cfg(feature = "commands")]
    pub(crate) sandbox: Option<Surroundings>,
    #[cfg(feature = "fetch")]
    pub(crate) fetch_private: Vec<HostPattern>,
    pub(crate) closed: Vec<PathBuf>,
    pub(crate) secrets: Vec<(String, String)>,
    #[cfg(feature = "commands")]
    pub(crate) hide_env: BTreeSet<String>,
    #[cfg(feature = "commands")]
    pub(crate) keep_env: BTreeSet<String>,
    #[cfg(feature = "commands")]
    pub(crate) guard: Option<GuardProgram>,
    pub(crate) attendance: Attendance,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) owner: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) live: LiveSessions,
}

/// What the built-in tools need.
#[cfg_attr(not(feature = "commands"), expect(dead_code, reason = "most of it is for commands"))]
struct WorkspaceParts<'a> {
    workspace: Arc<Workspace>,
    /// Paths that tools may not access.
    closed: Vec<PathBuf>,
    secrets: &'a Secrets,
    permissions: &'a Permissions,
    guard_locks: Option<&'a Path>,
}

/// Whether a permission rule allows or denies.
#[derive(Clone, Copy)]
pub(crate) enum PermissionSide {
    Allow,
    Deny,
}

impl Default for AgentParts {
    fn default() -> Self {
        Self {
            name: "Windlass".to_owned(),
            model: RequestedModel::default(),
            fallbacks: Vec::new(),
            resolved_models: Vec::new(),
            role_models: BTreeMap::new(),
            resolved_role_models: BTreeMap::new(),
            environment: Environment::default(),
            http_client: None,
            custom_model: None,
            named_models: HashMap::new(),
            preset: "default".to_owned(),
            whole_policy: None,
            patches: Vec::new(),
            workspace: None,
            journal_place: JournalPlace::Default,
            #[cfg(feature = "sqlite")]
            sqlite: SqliteOptions::default(),
            tools: Vec::new(),
            servers: None,
            #[cfg(feature = "mcp")]
            mcp_servers: Vec::new(),
            on_question: None,
            response_format: None,
            system: None,
            session_system: None,
            user_instructions: None,
            project_instructions: None,
            skills: Vec::new(),
            context_sources: Vec::new(),
            permissions: Permissions::default(),
            rules: Vec::new(),
            #[cfg(feature = "commands")]
            sandbox: None,
            #[cfg(feature = "fetch")]
            fetch_private: Vec::new(),
            closed: Vec::new(),
            secrets: Vec::new(),
            #[cfg(feature = "commands")]
            hide_env: BTreeSet::new(),
            #[cfg(feature = "commands")]
            keep_env: BTreeSet::new(),
            #[cfg(feature = "commands")]
            guard: crate::own_guard(),
            attendance: Attendance::Unattended,
            deadline_ms: None,
            owner: "local".to_owned(),
            clock: Arc::new(SystemClock),
            live: LiveSessions::default(),
        }
    }
}

impl AgentParts {
    pub(crate) fn take_policy(&mut self) -> Result<Policy, BuildError> {
        let of_preset = || preset(&self.preset).ok_or_else(|| BuildError::Preset { name: self.preset.clone() });
        let mut policy = match (self.whole_policy.take(), self.attendance) {
            (Some(policy), _) => policy,
            (None, Attendance::Unattended) => of_preset()?,
            // A person must never wait for a server (P2).
            (None, Attendance::Attended) => Policy { server_wait_ms: 0, ..of_preset()? },
        };
        for patch in &self.patches {
            patch.check()?;
            policy = policy.with(patch);
        }
        policy.retrieve = sources::retrieved(policy.retrieve, &self.context_sources)?;
        Ok(policy)
    }

    /// Whether runs have somebody who answers their questions.
    pub(crate) fn attendance_of_runs(&self) -> Attendance {
        if self.on_question.is_some() { Attendance::Attended } else { self.attendance }
    }

    pub(crate) fn take_models(&mut self) -> Result<ChosenModels, BuildError> {
        let known = std::mem::take(&mut self.named_models);
        let requested = RequestedChain {
            first: std::mem::take(&mut self.model),
            fallbacks: std::mem::take(&mut self.fallbacks),
            resolved: std::mem::take(&mut self.resolved_models),
            roles: std::mem::take(&mut self.role_models),
            resolved_roles: std::mem::take(&mut self.resolved_role_models),
            custom: self.custom_model.take(),
            response_format: self.response_format,
        };
        requested.resolve(known, &self.environment, self.http_client.take())
    }

    pub(crate) fn open_store(&self) -> Result<(Arc<dyn Store>, Option<PathBuf>), BuildError> {
        Ok(match &self.journal_place {
            #[cfg(feature = "sqlite")]
            JournalPlace::Default => self.folder(Path::new(DEFAULT_FOLDER))?,
            #[cfg(not(feature = "sqlite"))]
            JournalPlace::Default => return Err(BuildError::NoStore),
            JournalPlace::Memory => (Arc::new(MemoryStore::new()), None),
            JournalPlace::Store(store, dir) => (Arc::clone(store), Some(dir.clone())),
            #[cfg(feature = "sqlite")]
            JournalPlace::Folder(dir) => self.folder(dir)?,
        })
    }

    #[cfg(feature = "sqlite")]
    fn folder(&self, dir: &Path) -> Result<(Arc<dyn Store>, Option<PathBuf>), BuildError> {
        Ok((Arc::new(SqliteStore::open(dir, self.sqlite.clone())?), Some(dir.to_owned())))
    }

    pub(crate) fn registry(
        &mut self,
        secrets: &Secrets,
        permissions: &Permissions,
        data_dir: Option<&Path>,
        guard_locks: Option<&Path>,
        policy: &Policy,
    ) -> Result<(Registry, Option<Arc<Workspace>>), BuildError> {
        let mut registry = Registry::new();
        let mut opened = None;
        if let Some(dir) = &self.workspace {
            // Only the driver may write the journal.
            let closed: Vec<PathBuf> = data_dir.map(Path::to_owned).into_iter().chain(self.closed.clone()).collect();
            let workspace = closed.iter().try_fold(Workspace::open(dir)?, |workspace, path| workspace.without(path))?;
            let workspace = Arc::new(workspace.hiding(secrets.clone()));
            let in_workspace = WorkspaceParts { workspace, closed, secrets, permissions, guard_locks };
            for tool in self.tools_in(&in_workspace, policy)? {
                registry.add(tool)?;
            }
            opened = Some(in_workspace.workspace);
        }
        let skills = read_skill(&self.skills, opened.as_ref(), secrets);
        let own = self.tools.drain(..).map(|bound| bound.tool);
        for tool in skills.into_iter().chain(ending_tools()).chain(own) {
            registry.add(tool)?;
        }
        if let Some(servers) = self.take_servers(secrets, data_dir)? {
            registry.serve(servers);
        }
        Ok((registry, opened))
    }

    /// Returns the built-in tools that are compiled in.
    fn tools_in(&mut self, at: &WorkspaceParts<'_>, policy: &Policy) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let mut tools = self.tools_for_files(at, policy)?;
        tools.extend(self.take_fetching(at));
        Ok(tools)
    }

    /// Returns the file tools, and commands. Without a guard process no command can run: then they are left out if a rule
    /// forbids them all, and else the agent is not built.
    #[cfg(feature = "commands")]
    fn tools_for_files(&mut self, at: &WorkspaceParts<'_>, policy: &Policy) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        let workspace = Arc::clone(&at.workspace);
        if self.guard.is_some() || !policy.tools.contains(&ToolSource::BuiltIn) {
            return Ok(builtins(workspace, self.take_commands(at)));
        }
        let every_command: Rule = "run_command".parse()?;
        if at.permissions.deny.contains(&every_command) {
            Ok(file_tools(workspace))
        } else {
            Err(BuildError::NoCommandGuard)
        }
    }

    #[cfg(not(feature = "commands"))]
    #[expect(clippy::unnecessary_wraps, reason = "with commands it can fail")]
    fn tools_for_files(&mut self, at: &WorkspaceParts<'_>, _: &Policy) -> Result<Vec<Arc<dyn Tool>>, BuildError> {
        Ok(file_tools(Arc::clone(&at.workspace)))
    }

    #[cfg(feature = "commands")]
    fn take_commands(&mut self, at: &WorkspaceParts<'_>) -> Commands {
        let lock_dir = at.guard_locks.map_or_else(std::env::temp_dir, Path::to_owned);
        let mut commands = Commands::new(self.guard.clone(), lock_dir);
        commands.secrets = at.secrets.clone();
        commands.hide_env = std::mem::take(&mut self.hide_env);
        commands.keep_env = std::mem::take(&mut self.keep_env);
        commands.sandbox = self.sandbox.take().map(|mut surroundings| {
            surroundings.workspace = at.workspace.root().to_owned();
            surroundings.unreadable.extend(at.closed.iter().cloned());
            Sandbox::new(surroundings, Arc::new(at.permissions.clone()))
        });
        commands
    }

    #[cfg(feature = "fetch")]
    fn take_fetching(&mut self, at: &WorkspaceParts<'_>) -> Option<Arc<dyn Tool>> {
        let private = std::mem::take(&mut self.fetch_private);
        let (permissions, secrets) = (at.permissions.clone(), at.secrets.clone());
        Some(fetch_url(FetchSettings { private, permissions, secrets }))
    }

    #[cfg(not(feature = "fetch"))]
    fn take_fetching(&mut self, _: &WorkspaceParts<'_>) -> Option<Arc<dyn Tool>> {
        None
    }

    #[cfg(feature = "mcp")]
    fn take_servers(
        &mut self,
        secrets: &Secrets,
        data_dir: Option<&Path>,
    ) -> Result<Option<Arc<dyn ToolServers>>, BuildError> {
        let (guard, workspace) = (self.guard.clone(), self.workspace.clone());
        let shared = ServerSurroundings { data_dir, guard, secrets, workspace };
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
                PermissionSide::Allow => permissions.allow.push(rule),
                PermissionSide::Deny => permissions.deny.push(rule),
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
    use windlass_vocab::{NotBuilt, Reasoning};

    use super::*;

    // proves P2: a person never waits for a server, unless the program that builds the agent says so
    #[test]
    fn an_attended_agent_waits_for_no_server_unless_it_is_told_to() {
        let wait = |attendance, patch: PolicyPatch| {
            let mut parts = AgentParts { attendance, patches: vec![patch], ..AgentParts::default() };
            parts.take_policy().map(|policy| policy.server_wait_ms).ok()
        };
        let told = PolicyPatch { server_wait_ms: Some(7), ..PolicyPatch::default() };
        assert_eq!(wait(Attendance::Unattended, PolicyPatch::default()), Some(5_000));
        assert_eq!(wait(Attendance::Attended, PolicyPatch::default()), Some(0));
        assert_eq!(wait(Attendance::Attended, told), Some(7));
    }

    #[test]
    fn a_rule_that_would_do_nothing_is_refused() {
        let patch = PolicyPatch { reasoning: Some(Reasoning::Configured), ..PolicyPatch::default() };
        let refused = AgentParts { patches: vec![patch], ..AgentParts::default() }.take_policy();
        assert!(matches!(refused, Err(BuildError::NotBuilt(NotBuilt { row: "reasoning", .. }))), "{refused:?}");
    }
}
