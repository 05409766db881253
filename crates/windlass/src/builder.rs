//! Gathering what an agent needs.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "mcp")]
use windlass_mcp::ServerConfig;
use windlass_provider::openai::ResponseFormat;
use windlass_provider::{Model, Secret};
use windlass_runtime::{Clock, Hub, Instructions, Services};
#[cfg(feature = "commands")]
use windlass_sandbox::Surroundings;
#[cfg(feature = "sqlite")]
use windlass_store::SqliteOptions;
use windlass_store::Store;
#[cfg(feature = "commands")]
use windlass_tools::GuardProgram;
#[cfg(feature = "fetch")]
use windlass_tools::HostPattern;
use windlass_tools::{OutputSchema, Permissions, Secrets, ToolServers};
use windlass_vocab::{Answer, Attendance, EndsBy, ModelName, Policy, PolicyPatch, QuestionAsked, ToolSource};

use crate::agent::Agent;
use crate::agent_parts::{AgentParts, ChosenModels, JournalPlace, PermissionSide};
use crate::build_error::BuildError;
use crate::environment::Environment;
#[cfg(feature = "mcp")]
use crate::mcp_servers;
use crate::output::{Output, expected};
use crate::typed::IntoTool;

/// Gathers what an agent needs.
pub struct Builder<Deps = (), Output = String> {
    gathered: AgentParts,
    deps: Arc<Deps>,
    output: PhantomData<fn() -> Output>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { gathered: AgentParts::default(), deps: Arc::new(()), output: PhantomData }
    }
}

impl<D, O> Clone for Builder<D, O> {
    fn clone(&self) -> Self {
        Self { gathered: self.gathered.clone(), deps: Arc::clone(&self.deps), output: PhantomData }
    }
}

impl<D, O> std::fmt::Debug for Builder<D, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let AgentParts { name, model, .. } = &self.gathered;
        f.debug_struct("Builder").field("name", name).field("model", model).finish_non_exhaustive()
    }
}

impl Builder {
    /// Begins an agent as the environment describes it; whatever is said after it comes before what the environment says.
    ///
    /// - The model: `WINDLASS_MODEL` or `OPENAI_MODEL`, written as for [`model`](Self::model).
    /// - Its server, where the name of the model does not say it: `WINDLASS_BASE_URL` or `OPENAI_BASE_URL`; else Ollama at
    ///   `OLLAMA_HOST`, or OpenAI where there is a key.
    /// - The key: `WINDLASS_API_KEY`, or `OPENAI_API_KEY` for OpenAI and the server that the environment names. Both are
    ///   secrets from here on (X1).
    /// - The data folder: `WINDLASS_DATA_DIR`, else `windlass` in the folder for this user's data
    ///   (`XDG_DATA_HOME`, `~/.local/share`), where the command line keeps its sessions as well.
    pub fn from_env() -> Result<Self, BuildError> {
        Ok(Self::default().in_environment(Environment::of_process()?))
    }

    fn in_environment(mut self, environment: Environment) -> Self {
        #[cfg(feature = "sqlite")]
        if let Some(dir) = &environment.data_dir {
            self.gathered.keeping = JournalPlace::Folder(dir.clone());
        }
        let keys = [("api_key", &environment.api_key), ("openai_api_key", &environment.openai_key)];
        let keys = keys.into_iter().filter_map(|(name, key)| Some((name.to_owned(), key.clone()?)));
        self.gathered.secrets.extend(keys);
        self.gathered.environment = environment;
        self
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
        self.gathered.model.base_url = Some(url.into());
        self
    }

    /// The key for that server. It is a secret from here on (X1). An empty one is none.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.gathered.secrets.push(("api_key".to_owned(), key.clone()));
        self.gathered.model.key = (!key.trim().is_empty()).then(|| Secret::new(&key));
        self
    }

    /// The key for that server, known as a secret already.
    #[must_use]
    pub fn server_key(mut self, key: Secret) -> Self {
        self.gathered.model.key = Some(key);
        self
    }

    /// The model, with its server: `ollama:qwen3` (Ollama on this machine), `openai:gpt-5-mini`, or the address of any
    /// OpenAI-compatible server, with the model's id after a `#` where the server has several:
    /// `http://127.0.0.1:8080/v1`, `https://llm.example/v1#big`. Where [`base_url`](Self::base_url) gives the address,
    /// this is the id and nothing else.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.gathered.model.name = Some(name.into());
        self
    }

    /// A model of your own in place of one behind a server.
    #[must_use]
    pub fn custom_model(mut self, name: impl Into<ModelName>, model: Arc<dyn Model>) -> Self {
        self.gathered.custom_model = Some((name.into(), model));
        self
    }

    /// A model of your own beside those of the server: a run that names it is answered by it.
    #[must_use]
    pub fn named_model(mut self, name: impl Into<ModelName>, model: Arc<dyn Model>) -> Self {
        self.gathered.named_models.insert(name.into(), model);
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

    /// Folders and files that are not for tools, besides the one journals are kept in: no path into them can be used.
    #[must_use]
    pub fn closed(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.gathered.closed.extend(paths);
        self
    }

    /// The folder journals are kept in; `windlass-data` in the current folder unless said otherwise.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.gathered.keeping = JournalPlace::Folder(dir.into());
        self
    }

    /// How the data folder is opened.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn sqlite(mut self, options: SqliteOptions) -> Self {
        self.gathered.sqlite = options;
        self
    }

    /// Keeps journals in memory only: what was said and done is lost with the agent.
    #[must_use]
    pub fn in_memory(mut self) -> Self {
        self.gathered.keeping = JournalPlace::Memory;
        self
    }

    /// A store of your own; the guards of commands keep their locks in `dir`.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>, dir: impl Into<PathBuf>) -> Self {
        self.gathered.keeping = JournalPlace::Store(store, dir.into());
        self
    }

    /// A tool of your own: a [`Function`](crate::Function), what [`typed`](crate::typed) gives, or any
    /// [`Tool`](crate::Tool) in an `Arc`. The first two may run without asking unless they say otherwise: whoever gives
    /// an agent a tool of their own program means it to be used. What denies or asks by rule still does.
    #[must_use]
    pub fn tool(mut self, tool: impl IntoTool<D>) -> Self {
        self.gathered.tools.push(tool.into_tool(&self.deps));
        self
    }

    /// Tools of an MCP server that is a program: its name, the command and its arguments, e.g.
    /// `.mcp_server("time", "uvx", ["mcp-server-time"])`. It is started when it is needed and ends with this program,
    /// which must have called [`init`](crate::init). Its tools ask before they run, unless a rule allows them:
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
        self.gathered.mcp_servers.push((name.into(), config));
        self
    }

    /// The same for an MCP server that is reached over HTTP.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp_server_at(mut self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.gathered.mcp_servers.push((name.into(), ServerConfig::http(url)));
        self
    }

    /// Servers whose tools come and go, such as MCP servers. The first turn of a run waits for those that were
    /// never listed before, unless somebody attends it; see [`server_wait`](Self::server_wait).
    #[must_use]
    pub fn tool_servers(mut self, servers: Arc<dyn ToolServers>) -> Self {
        self.gathered.servers = Some(servers);
        self
    }

    /// How long the first turn waits for servers that were never listed before: five seconds, or not at all where
    /// somebody answers questions, unless said here or in a policy.
    #[must_use]
    pub fn server_wait(self, wait: Duration) -> Self {
        let server_wait_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        self.policy(PolicyPatch { server_wait_ms, ..PolicyPatch::default() })
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

    /// Who the agent is and what it is for, in place of what Windlass says of it. Where tools are offered, the rules for
    /// working with them follow; those about files only where file tools are.
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
        self.gathered.rules.push((PermissionSide::Allow, rule.into()));
        self
    }

    /// Forbids calls like this.
    #[must_use]
    pub fn deny(mut self, rule: impl Into<String>) -> Self {
        self.gathered.rules.push((PermissionSide::Deny, rule.into()));
        self
    }

    /// The sandbox commands run in; its workspace is the agent's. Without one they can do whatever this user can.
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn sandbox(mut self, surroundings: Surroundings) -> Self {
        self.gathered.sandbox = Some(surroundings);
        self
    }

    /// Hosts `fetch_url` may fetch from though they are on this machine or in a private network.
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn fetch_private(mut self, hosts: impl IntoIterator<Item = HostPattern>) -> Self {
        self.gathered.fetch_private.extend(hosts);
        self
    }

    /// Secrets that must never reach the model, the journal, a command or an error: name and value.
    #[must_use]
    pub fn secrets(mut self, secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        self.gathered.secrets.extend(secrets);
        self
    }

    /// Variables that commands don't inherit besides those that hold a secret by their name or value.
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn hide_env(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.gathered.hide_env.extend(names);
        self
    }

    /// Variables that commands inherit though they hold a secret. What they print of it is hidden all the same.
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn keep_env(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.gathered.keep_env.extend(names);
        self
    }

    /// Another program as the guard of commands; this one, if [`crate::init`] was called.
    #[cfg(feature = "commands")]
    #[must_use]
    pub fn guard(mut self, guard: GuardProgram) -> Self {
        self.gathered.guard = Some(guard);
        self
    }

    /// Answers the questions of runs, so that calls which need approval can run. A question has a preview of what is
    /// asked about and the answers on offer; give one of them ([`QuestionOption`](crate::QuestionOption)), or a whole
    /// [`QuestionAnswer`](crate::QuestionAnswer) with other arguments or a reason. Without a handler nobody is there:
    /// such calls are refused. A question that is left open is asked again when the run is resumed.
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
        self.gathered.on_question = Some(Arc::new(move |question| {
            let answering = handler(question);
            Box::pin(async move { answering.await.into() })
        }));
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
        let ChosenModels { name: model_name, models, server } = gathered.take_models()?;
        // An address with credentials in it is nothing to write down.
        let server = server.filter(|url| !url.contains('@'));
        let secrets = Arc::new(Secrets::new(std::mem::take(&mut gathered.secrets)));
        let (store, data_dir) = gathered.open_store()?;
        let guard_locks = data_dir.as_ref().map(|dir| dir.join("guards"));
        let (permissions, attendance) = (gathered.take_permissions()?, gathered.attendance_of_runs());
        let (registry, folder) =
            gathered.registry(&secrets, &permissions, data_dir.as_deref(), guard_locks.as_deref())?;
        let services =
            Services { store, models, registry, secrets, clock: gathered.clock, guard_locks, workspace: folder };
        let workspace = gathered.workspace.as_ref().map(|dir| dir.display().to_string());
        let settings = windlass_runtime::AgentSettings {
            name: gathered.name,
            policy,
            chain: vec![model_name],
            instructions: Instructions { system: gathered.system, workspace: gathered.workspace },
            permissions: Arc::new(permissions),
            deadline_ms: gathered.deadline_ms,
            attendance,
            output,
            server,
        };
        let hub = Hub::new(services);
        let (owner, on_question) = (gathered.owner, gathered.on_question);
        Ok(Agent { hub, settings, owner, workspace, deps, on_question, output: PhantomData })
    }
}
