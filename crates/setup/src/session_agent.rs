//! Builds the agent of one session, for doors that serve many.
//!
//! The protocol: a door keeps one [`SessionAgents`] and asks it for an agent whenever a session is opened. The settings are
//! read again each time, so that a change a person makes meanwhile applies to the next request; an agent is built only where
//! none was built from the same ([`BuiltAgents`]). Nobody is asked anything:
//! a project that nobody trusts yet may only tighten, and servers that nobody agreed to are not started.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass::{Agent, BuildError};
use windlass_provider::HttpClient;
use windlass_runtime::LiveSessions;
use windlass_store::{SessionRow, Store, StoreError};
use windlass_tools::Rule;
use windlass_vocab::{Attendance, ModelName};

use crate::agent::{self, AgentError};
use crate::asking::{Person, ServersQuestion, YesNo};
use crate::built_agents::{AgentInputs, BuiltAgents};
use crate::demo::DemoWords;
use crate::last_run::last_run;
use crate::models::{DEMO, ModelFallback, ModelNotice, ModelPreference};
use crate::run_setup::{RunConditions, RunSetup, SetupError};
use crate::servers::{ConsentAnswer, SharedServers};
use crate::settings::{
    ChangedFile, Env, Flags, PlaceSettings, SettingOrigin, Settings, SettingsError, Sourced, Sources,
};
use crate::trusting;

/// What the agents of all sessions are built from.
#[derive(Debug)]
pub struct SessionAgents {
    /// The flags of the door's command.
    pub flags: Flags,
    /// The environment.
    pub env: Env,
    /// The folder that relative paths in the flags start from.
    pub current_folder: PathBuf,
    /// The data folder, and the folder of new sessions.
    pub place: PlaceSettings,
    /// The store of the sessions.
    pub store: SharedStore,
    /// The tool servers, by folder.
    pub servers: SharedServers,
    /// The connections to models' servers.
    pub http: HttpClient,
    /// The agents that were built last.
    pub built: BuiltAgents,
    /// The sessions that are live in this process.
    pub live: LiveSessions,
    /// How long a run may take.
    pub deadline: Option<Duration>,
    /// What the demo model says of the door.
    pub demo_words: DemoWords,
}

/// A store that several parts of a door share.
#[derive(Clone)]
pub struct SharedStore(pub Arc<dyn Store>);

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedStore").finish_non_exhaustive()
    }
}

/// What a session's agent is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentPurpose {
    /// To send a message.
    Say,
    /// To resume the open run.
    GoOn,
}

/// Which agent is needed.
#[derive(Clone, Copy, Debug)]
pub struct AgentRequest<'a> {
    /// The session, if it exists already.
    pub session: Option<&'a SessionRow>,
    /// The owner of a new session.
    pub owner: &'a str,
    /// The folder that the person named.
    pub folder: Option<&'a Path>,
    /// What it is needed for.
    pub purpose: AgentPurpose,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// What to do where no model is configured or found.
    pub fallback: ModelFallback,
}

/// What a request says about its agent, in place of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOverrides {
    /// The agent's name; `None` for the session's, or the one of new sessions.
    pub agent: Option<String>,
    /// The session's own system text (C2), which it keeps.
    pub system: Option<String>,
}

/// A session's agent, and what it was built from.
#[derive(Debug)]
pub struct SessionAgent {
    /// The agent.
    pub agent: Agent,
    /// Its settings, secrets and servers.
    pub setup: RunSetup,
    /// The first model of its chain.
    pub model: ModelName,
    /// What is to be said of the choice of the model.
    pub notices: Vec<ModelNotice>,
}

/// Why a session's folder can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionFolderError {
    /// The folder is not there.
    #[error("works in {home}, which is not there")]
    Missing {
        /// The folder.
        home: String,
    },
    /// The person named another folder than the session's.
    #[error("works in {home}, not in {}", named.display())]
    Other {
        /// The session's folder.
        home: String,
        /// The folder that was named.
        named: PathBuf,
    },
}

/// Why a session's agent can't be built.
#[derive(Debug, thiserror::Error)]
pub enum SessionAgentError {
    /// Its folder can't be used.
    #[error("session `{key}` {error}")]
    Folder {
        /// The session's key.
        key: String,
        /// Why.
        error: SessionFolderError,
    },
    /// The settings can't be used.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The agent that the settings describe can't be built.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The session can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The settings' files can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<SettingsError> for SessionAgentError {
    fn from(error: SettingsError) -> Self {
        Self::Setup(error.into())
    }
}

impl From<BuildError> for SessionAgentError {
    fn from(error: BuildError) -> Self {
        Self::Agent(error.into())
    }
}

impl SessionAgents {
    /// Builds the agent for an existing session, in its own folder, or for a new one.
    pub async fn agent(&self, request: AgentRequest<'_>) -> Result<SessionAgent, SessionAgentError> {
        self.agent_with(request, AgentOverrides::default()).await
    }

    /// Returns the names of the agents that the settings of new sessions describe.
    pub fn agent_names(&self) -> Result<Vec<String>, SessionAgentError> {
        let flags = Flags { workspace: Some(self.place.workspace.clone()), ..self.flags.clone() };
        Ok(self.sources(flags)?.agent_names())
    }

    /// Like [`Self::agent`], with what the request says about the agent in place of the settings.
    pub async fn agent_with(
        &self,
        request: AgentRequest<'_>,
        overrides: AgentOverrides,
    ) -> Result<SessionAgent, SessionAgentError> {
        let store = &self.store.0;
        let place = self.place_of(&request)?;
        let last = last_run(store.as_ref(), request.session).await?;
        let mut flags = Flags { workspace: Some(place.workspace.clone()), ..self.flags.clone() };
        flags.session_agent = last.as_ref().and_then(|last| last.agent.clone());
        flags.agent = overrides.agent.or(flags.agent);
        flags.system = overrides.system.or(flags.system);
        let sources = self.sources(flags)?;
        // The session stays in the store where it was found, whatever data folder its project file names.
        let mut settings = Settings { place, ..sources.resolve()? };
        let owner = request.session.map_or(request.owner, |row| &row.owner);
        add_rules_of(store.as_ref(), owner, &mut settings).await?;
        let conditions = RunConditions {
            deadline: self.deadline,
            attendance: Attendance::Unattended,
            demo_words: self.demo_words,
            http: self.http.clone(),
        };
        let mut setup = RunSetup::new(settings, sources, conditions, &mut Nobody)?;
        setup.attendance = request.attendance;
        setup.servers = self.servers.in_place_of(setup.servers, &setup.settings.place.workspace);
        let begun = last.and_then(|last| last.model);
        // Settings changed since then apply to new runs only.
        if request.purpose == AgentPurpose::GoOn && begun.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO) {
            setup.settings.model = Some(Sourced::new(DEMO.into(), SettingOrigin::Session));
        }
        let preference = ModelPreference::new(begun, request.fallback);
        let (model, notices) = setup.choose(preference, &mut Nobody).await?;
        let agent = self.built.get_or_build(AgentInputs::new(&setup, &model, owner), || {
            let builder = agent::builder(&setup, Arc::clone(store), &model)?.owner(owner);
            Ok(builder.live_sessions(self.live.clone()).http_client(self.http.clone()).build()?)
        })?;
        Ok(SessionAgent { agent, setup, model, notices })
    }

    fn sources(&self, flags: Flags) -> Result<Sources, SessionAgentError> {
        let sources = Sources::gather(flags, self.env.clone(), self.current_folder.clone())?;
        Ok(trusting::settle_trust(sources, Attendance::Unattended, &mut Nobody)?)
    }

    fn place_of(&self, request: &AgentRequest<'_>) -> Result<PlaceSettings, SessionAgentError> {
        let place = self.place.clone();
        match (request.session, request.folder) {
            (Some(row), named) => session_place(place, row, named)
                .map_err(|error| SessionAgentError::Folder { key: row.key.clone(), error }),
            (None, Some(named)) => Ok(PlaceSettings { workspace: named.to_owned(), ..place }),
            (None, None) => Ok(place),
        }
    }
}

/// Adds what the session's owner allowed for good in its folder. What the settings deny or ask about still is.
async fn add_rules_of(store: &dyn Store, owner: &str, settings: &mut Settings) -> Result<(), StoreError> {
    let folder = settings.place.workspace.display().to_string();
    let kept = store.rules_of(owner).await?.into_iter().filter(|kept| kept.allowed.folder == folder);
    // A rule that this version can't read allows nothing.
    let rules = kept.filter_map(|kept| kept.allowed.rule.parse::<Rule>().ok());
    settings.permissions.allow.extend(rules.map(|rule| Sourced::new(rule, SettingOrigin::Session)));
    Ok(())
}

/// Returns the place settings with the folder the session was begun in: a session works there, wherever it is opened from.
/// `named` is the folder the person asked for.
pub fn session_place(
    place: PlaceSettings,
    row: &SessionRow,
    named: Option<&Path>,
) -> Result<PlaceSettings, SessionFolderError> {
    let Some(home) = row.workspace.clone() else { return Ok(place) };
    if place.workspace.display().to_string() == home {
        return Ok(place);
    }
    match (named, Path::new(&home).is_dir()) {
        (None, true) => Ok(PlaceSettings { workspace: home.into(), ..place }),
        (None, false) => Err(SessionFolderError::Missing { home }),
        (Some(named), true) => Err(SessionFolderError::Other { home, named: named.to_owned() }),
        // The session's folder was moved, or the session came from another machine.
        (Some(_), false) => Ok(place),
    }
}

/// The person where nobody can be asked.
struct Nobody;

impl Person for Nobody {
    fn report(&mut self, _sentence: &str) {}

    fn trusts_new(&mut self, _sources: &Sources) -> io::Result<Option<YesNo>> {
        Ok(None)
    }

    fn trusts_changed(&mut self, _changes: &[ChangedFile]) -> io::Result<Option<YesNo>> {
        Ok(None)
    }

    fn agrees_to_servers(&mut self, _question: &ServersQuestion<'_>) -> io::Result<Option<ConsentAnswer>> {
        Ok(None)
    }

    fn uses_model_server(&mut self, _doubt: &str) -> io::Result<YesNo> {
        Ok(YesNo::No)
    }
}
