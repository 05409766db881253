//! Gathers what an agent needs.

mod models;

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "mcp")]
use windlass_mcp::ServerConfig;
use windlass_provider::{HttpClient, ResponseFormat};
use windlass_runtime::{Clock, ContextSource, Hub, InstructionFile, LiveSessions, ProjectInstructions, Services};
#[cfg(feature = "commands")]
use windlass_sandbox::Surroundings;
#[cfg(feature = "sqlite")]
use windlass_store::SqliteOptions;
use windlass_store::Store;
#[cfg(feature = "commands")]
use windlass_tools::GuardProgram;
#[cfg(feature = "fetch")]
use windlass_tools::HostPattern;
use windlass_tools::{OutputSchema, Permissions, Secrets, Skill, ToolServers};
use windlass_vocab::{Answer, Attendance, EndsBy, Policy, PolicyPatch, QuestionAsked, ToolSource};

use crate::agent::Agent;
use crate::agent_parts::{AgentParts, JournalPlace, PermissionSide};
use crate::build_error::BuildError;
use crate::environment::Environment;
#[cfg(feature = "mcp")]
use crate::mcp_servers;
use crate::model_chain::ChosenModels;
use crate::output::{Output, expected};
use crate::typed::IntoTool;

/// Gathers what an agent needs, then builds it.
pub struct Builder<Deps = (), Output = String> {
    parts: AgentParts,
    deps: Arc<Deps>,
    output: PhantomData<fn() -> Output>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { parts: AgentParts::default(), deps: Arc::new(()), output: PhantomData }
    }
}

impl<D, O> Clone for Builder<D, O> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone(), deps: Arc::clone(&self.deps), output: PhantomData }
    }
}

impl<D, O> std::fmt::Debug for Builder<D, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let AgentParts { name, model, .. } = &self.parts;
        f.debug_struct("Builder").field("name", name).field("model", model).finish_non_exhaustive()
    }
}

impl Builder {
    /// Starts with the settings of the environment; the builder's other methods take precedence over these.
    ///
    /// - The model: `WINDLASS_MODEL` or `OPENAI_MODEL`, written as for [`model`](Self::model). Without either, the default
    ///   model of a provider where there is only a key; else the server is asked for its models, as in
    ///   [`build`](Self::build).
    /// - Its server, if the model's name does not contain it: `WINDLASS_BASE_URL` or `OPENAI_BASE_URL`; else the first
    ///   provider that there is a key for, or Ollama at `OLLAMA_HOST`.
    /// - The key: `WINDLASS_API_KEY`, or that of the provider (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`,
    ///   `OPENROUTER_API_KEY`, `GEMINI_API_KEY`, `DEEPSEEK_API_KEY`, `MISTRAL_API_KEY`, `GROQ_API_KEY`, `XAI_API_KEY` and
    ///   so on), which goes to that provider and to the server that the environment gives for it. All become known
    ///   secrets (X1).
    /// - The data folder: `WINDLASS_DATA_DIR`, else `windlass` in the user's data folder (`XDG_DATA_HOME`,
    ///   `~/.local/share`), where the command line stores its sessions as well.
    pub fn from_env() -> Result<Self, BuildError> {
        Ok(Self::default().in_environment(Environment::of_process()?))
    }

    fn in_environment(mut self, environment: Environment) -> Self {
        #[cfg(feature = "sqlite")]
        if let Some(dir) = &environment.data_dir {
            self.parts.journal_place = JournalPlace::Folder(dir.clone());
        }
        self.parts.secrets.extend(environment.keys());
        self.parts.environment = environment;
        self
    }
}

impl<D, O> Builder<D, O> {
    /// Sets the agent's name, which the model is told.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.parts.name = name.into();
        self
    }

    /// Sets the preset to start from; `default` if not called.
    #[must_use]
    pub fn preset(mut self, name: impl Into<String>) -> Self {
        self.parts.preset = name.into();
        self
    }

    /// Sets a whole, already resolved policy in place of a preset.
    #[must_use]
    pub fn whole_policy(mut self, policy: Policy) -> Self {
        self.parts.whole_policy = Some(policy);
        self
    }

    /// Overrides settings of the preset; later calls override earlier ones.
    #[must_use]
    pub fn policy(mut self, patch: PolicyPatch) -> Self {
        self.parts.patches.push(patch);
        self
    }

    /// Sets the folder that file tools and commands work in. Without one they are not offered.
    #[must_use]
    pub fn workspace(mut self, dir: impl Into<PathBuf>) -> Self {
        self.parts.workspace = Some(dir.into());
        self
    }

    /// Adds folders and files that tools may not access, besides the journal folder: no path into them can be used.
    #[must_use]
    pub fn closed(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.parts.closed.extend(paths);
        self
    }

    /// Sets the folder for journals; `windlass-data` in the current folder if not called.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.parts.journal_place = JournalPlace::Folder(dir.into());
        self
    }

    /// Sets how the data folder is opened.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn sqlite(mut self, options: SqliteOptions) -> Self {
        self.parts.sqlite = options;
        self
    }

    /// Keeps journals in memory only: sessions are lost with the agent.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.parts.journal_place = JournalPlace::Memory;
        self
    }

    /// Uses your own store; the guards of commands keep their lock files in `dir`.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>, dir: impl Into<PathBuf>) -> Self {
        self.parts.journal_place = JournalPlace::Store(store, dir.into());
        self
    }

    /// Adds your own tool: a [`Function`](crate::Function), the result of [`typed`](crate::typed), or any
    /// [`Tool`](crate::Tool) in an `Arc`. The first two may run without asking unless they declare otherwise, since a
    /// program that adds its own tool means it to be used. Rules that deny or ask still apply.
    #[must_use]
    pub fn tool(mut self, tool: impl IntoTool<D>) -> Self {
        self.parts.tools.push(tool.into_tool(&self.deps));
        self
    }

    /// Adds an MCP server that is a program: its name, the command and its arguments, e.g.
    /// `.mcp_server("time", "uvx", ["mcp-server-time"])`. It starts when first needed and ends with this program, which
    /// must have called [`init`](crate::init). Its tools ask before they run, unless a rule allows them:
    /// `.allow("time.*")`.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp_server(
        mut self,
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let config = mcp_servers::program(command.into(), args.into_iter().map(Into::into).collect());
        self.parts.mcp_servers.push((name.into(), config));
        self
    }

    /// Adds an MCP server that is reached over HTTP.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp_server_at(mut self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.parts.mcp_servers.push((name.into(), ServerConfig::http(url)));
        self
    }

    /// Sets servers whose tools come and go, such as MCP servers. The first turn of a run waits for servers that were
    /// never listed before, unless the run is attended; see [`server_wait`](Self::server_wait).
    #[must_use]
    pub fn tool_servers(mut self, servers: Arc<dyn ToolServers>) -> Self {
        self.parts.servers = Some(servers);
        self
    }

    /// Sets how long the first turn waits for servers that were never listed before. The default is five seconds, or
    /// zero where somebody answers questions; a policy can set it too.
    #[must_use]
    pub fn server_wait(self, wait: Duration) -> Self {
        let server_wait_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        self.policy(PolicyPatch { server_wait_ms, ..PolicyPatch::default() })
    }

    /// Sets the type that runs end with, in place of text (L10): the model must answer with JSON that fits the type's
    /// schema. An answer that does not fit goes back to it, as often as the policy's `output_corrections` says.
    #[must_use]
    pub fn output<T: Output>(self) -> Builder<D, T> {
        Builder { parts: self.parts, deps: self.deps, output: PhantomData }
    }

    /// Sets when the output's schema is sent to the server, in case the default for this server does not fit.
    #[must_use]
    pub fn response_format(mut self, when: ResponseFormat) -> Self {
        self.parts.response_format = Some(when);
        self
    }

    /// Sets who the agent is and what it is for, in place of Windlass's own text. If tools are offered, the rules for
    /// working with them follow; those about files only if file tools are offered.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.parts.system = Some(text.into());
        self
    }

    /// Sets who the agent is, like `system`, for the sessions it runs: each keeps this text as its own, also in later
    /// runs of agents that are built without it.
    #[must_use]
    pub fn session_system(mut self, text: impl Into<String>) -> Self {
        self.parts.session_system = Some(text.into());
        self
    }

    /// Sets the person's own instructions, which the model gets after `system`.
    #[must_use]
    pub fn user_instructions(mut self, file: InstructionFile) -> Self {
        self.parts.user_instructions = Some(file);
        self
    }

    /// Sets the project's instructions. If not called, they are the `AGENTS.md` of the workspace, as it is when the
    /// agent is built.
    #[must_use]
    pub fn project_instructions(mut self, instructions: ProjectInstructions) -> Self {
        self.parts.project_instructions = Some(instructions);
        self
    }

    /// Adds skills: the model is told their names and descriptions, and reads their files with `read_skill`.
    #[must_use]
    pub fn skills(mut self, skills: impl IntoIterator<Item = Skill>) -> Self {
        self.parts.skills.extend(skills);
        self
    }

    /// Adds a source of passages (C10): before each turn it is asked for text that may be about the person's last
    /// message, and the model gets what it finds, up to a thousand tokens in all. Sets the policy's `retrieve` to `own`
    /// if that is `off`; with `workspace` the files of the workspace are searched as well.
    #[must_use]
    pub fn context_source(mut self, source: Arc<dyn ContextSource>) -> Self {
        self.parts.context_sources.push(source);
        self
    }

    /// Sets all permissions at once.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.parts.permissions = permissions;
        self
    }

    /// Allows calls that match the rule to run without asking, e.g. `run_command(cargo *)`.
    #[must_use]
    pub fn allow(mut self, rule: impl Into<String>) -> Self {
        self.parts.rules.push((PermissionSide::Allow, rule.into()));
        self
    }

    /// Forbids calls that match the rule.
    #[must_use]
    pub fn deny(mut self, rule: impl Into<String>) -> Self {
        self.parts.rules.push((PermissionSide::Deny, rule.into()));
        self
    }

    /// Sets the sandbox of commands; its workspace is the agent's. Without one, commands can do whatever this user can.
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn sandbox(mut self, surroundings: Surroundings) -> Self {
        self.parts.sandbox = Some(surroundings);
        self
    }

    /// Adds hosts that `fetch_url` may access although they are on this machine or in a private network.
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn fetch_private(mut self, hosts: impl IntoIterator<Item = HostPattern>) -> Self {
        self.parts.fetch_private.extend(hosts);
        self
    }

    /// Adds secrets, by name and value, that must never reach the model, the journal, a command or an error.
    #[must_use]
    pub fn secrets(mut self, secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        self.parts.secrets.extend(secrets);
        self
    }

    /// Adds variables that commands don't inherit, besides those that hold a secret by their name or value.
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn hide_env(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.parts.hide_env.extend(names);
        self
    }

    /// Adds variables that commands inherit although they hold a secret. The secret is still hidden in their output.
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn keep_env(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.parts.keep_env.extend(names);
        self
    }

    /// Sets another program as the guard of commands. The default is this program, if it called [`crate::init`].
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn guard(mut self, guard: GuardProgram) -> Self {
        self.parts.guard = Some(guard);
        self
    }

    /// Sets the handler that answers the questions of runs, so that calls which need approval can run. A question
    /// contains a preview and the possible answers; return one of these ([`QuestionOption`](crate::QuestionOption)), or
    /// a whole [`QuestionAnswer`](crate::QuestionAnswer) with changed arguments or a reason. Without a handler such
    /// calls are refused. A question left open is asked again when the run is resumed.
    ///
    /// ```
    /// use windlass::{Agent, QuestionAsked, QuestionOption};
    ///
    /// let builder = Agent::builder().on_question(|question: QuestionAsked| async move {
    ///     let asked_about = question.preview.map(|preview| preview.title).unwrap_or_default();
    ///     if asked_about.contains("rm ") { QuestionOption::No } else { QuestionOption::Once }
    /// });
    /// ```
    #[must_use]
    pub fn on_question<Answering>(
        mut self,
        handler: impl Fn(QuestionAsked) -> Answering + Send + Sync + 'static,
    ) -> Self
    where
        Answering: Future<Output: Into<Answer>> + Send + 'static,
    {
        self.parts.on_question = Some(Arc::new(move |question| {
            let answering = handler(question);
            Box::pin(async move { answering.await.into() })
        }));
        self
    }

    /// Sets whether somebody answers questions.
    #[must_use]
    pub fn attendance(mut self, attendance: Attendance) -> Self {
        self.parts.attendance = attendance;
        self
    }

    /// Sets how long a run may take, in milliseconds.
    #[must_use]
    pub fn deadline_ms(mut self, ms: Option<u64>) -> Self {
        self.parts.deadline_ms = ms;
        self
    }

    /// Sets how long a run may take; then it is stopped as if by a person.
    #[must_use]
    pub fn deadline(self, after: Duration) -> Self {
        self.deadline_ms(Some(u64::try_from(after.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Sets the owner of the sessions; `local` if not called.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.parts.owner = owner.into();
        self
    }

    /// Sets the live sessions that this agent shares with other agents of the program, which must have the same store:
    /// each can join the sessions that another opened. For doors that build an agent for each session.
    #[must_use]
    pub fn live_sessions(mut self, live: LiveSessions) -> Self {
        self.parts.live = live;
        self
    }

    /// Sets the HTTP client, whose connections this agent shares with other agents of the program. For doors that build an
    /// agent for each session: a model's server is then reached over a connection that is there already.
    #[must_use]
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.parts.http_client = Some(client);
        self
    }

    /// Sets another clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.parts.clock = clock;
        self
    }
}

impl<O> Builder<(), O> {
    /// Sets the state that the agent's tools share. Call it before adding tools that need it.
    #[must_use]
    pub fn deps<D: Send + Sync + 'static>(self, deps: D) -> Builder<D, O> {
        Builder { parts: self.parts, deps: Arc::new(deps), output: PhantomData }
    }
}

impl<D, O: Output> Builder<D, O> {
    /// Builds the agent. If a server is known but none of its models is named, waits up to five seconds for the server's
    /// list: the only model is used, or the first where the server is Ollama or on this machine. A server on this machine
    /// is asked what its model can do, for half a second at most.
    pub fn build(self) -> Result<Agent<D, O>, BuildError> {
        let Self { mut parts, deps, .. } = self;
        let output = expected::<O>();
        let policy = parts.take_policy()?;
        if let Some(expected) = &output {
            OutputSchema::new(&expected.spec.schema).map_err(|problem| BuildError::Output { problem })?;
            if policy.ends_by == EndsBy::EndingTool || policy.tools.contains(&ToolSource::Ending) {
                return Err(BuildError::OutputByTool);
            }
        }
        let ChosenModels { chain, role_chains, models } = parts.take_models()?;
        crate::money_limits::check(&policy, chain.iter().chain(role_chains.values().flatten()))?;
        let secrets = Arc::new(Secrets::new(std::mem::take(&mut parts.secrets)));
        let (store, data_dir) = parts.open_store()?;
        let guard_locks = data_dir.as_ref().map(|dir| dir.join("guards"));
        let (permissions, attendance) = (parts.take_permissions()?, parts.attendance_of_runs());
        let (registry, folder) =
            parts.registry(&secrets, &permissions, data_dir.as_deref(), guard_locks.as_deref(), &policy)?;
        let permissions = Arc::new(permissions);
        let workspace = parts.workspace.as_ref().map(|dir| dir.display().to_string());
        let instructions = parts.take_instructions(folder.as_deref(), &permissions);
        let context_sources = parts.take_sources(folder.as_ref(), &permissions, data_dir.as_deref(), &policy)?;
        let services = Services {
            store,
            models,
            registry,
            secrets,
            breakers: parts.live.breakers().clone(),
            spending: windlass_store::SpendingCounter::default(),
            clock: parts.clock,
            guard_locks,
            workspace: folder,
            context_sources,
        };
        let settings = windlass_runtime::AgentSettings {
            name: parts.name,
            policy,
            models: chain,
            role_chains,
            instructions,
            permissions,
            deadline_ms: parts.deadline_ms,
            attendance,
            output,
        };
        let hub = Hub::sharing(services, parts.live);
        let (owner, on_question) = (parts.owner, parts.on_question);
        Ok(Agent { hub, settings, owner, workspace, deps, on_question, output: PhantomData })
    }
}
