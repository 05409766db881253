//! What all requests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use windlass_runtime::{Clock, Follow, LiveSessions};
use windlass_setup::demo::is_scratch;
use windlass_setup::models::{DEMO, ModelFallback};
use windlass_setup::session_agent::{AgentPurpose, AgentRequest, SessionAgent, SessionAgentError, SessionAgents};
use windlass_store::{SessionRetention, SessionRow, Store};
use windlass_tools::Secrets;
use windlass_vocab::{Attendance, SessionId};

use crate::access::{Access, BrowserEntry, Caller, CallerRole};
use crate::background::BackgroundTasks;
use crate::error::{ApiError, ErrorKind};
use crate::keeping::SessionKeeper;
use crate::limits::ServiceLimits;
use crate::metrics::Metrics;
use crate::open_runs::{NoPlace, OpenRuns, RunPlace};
use crate::places::{TakenPlaces, UserPlaces};
use crate::resumptions::Resumptions;

/// Whether the server takes new work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServingPhase {
    /// It does.
    Serving,
    /// It is being shut down: nothing new starts, and what is under way is finished.
    Draining,
    /// Every session is closed: those who follow get what is left.
    Ended,
}

/// What all requests share.
pub struct HttpServer {
    pub(crate) agents: SessionAgents,
    pub(crate) access: Access,
    pub(crate) limits: ServiceLimits,
    pub(crate) secrets: Secrets,
    pub(crate) clock: Arc<dyn Clock>,
    /// The folders that sessions may work in, the first for new ones.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) background: Arc<BackgroundTasks>,
    pub(crate) keeper: SessionKeeper,
    /// The bytes of bodies that users are sending.
    pub(crate) bodies: UserPlaces,
    streams: UserPlaces,
    /// Sessions that are being made.
    new_sessions: UserPlaces,
    pub(crate) runs: OpenRuns,
    pub(crate) metrics: Metrics,
    pub(crate) resumptions: Resumptions,
    /// How long sessions are kept; absent where none is put away.
    pub(crate) retention: Option<SessionRetention>,
    phase: watch::Sender<ServingPhase>,
}

impl std::fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServer").field("folders", &self.folders).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Returns the state of a server that serves the sessions of these agents.
    #[must_use]
    pub fn new(
        agents: SessionAgents,
        access: Access,
        limits: ServiceLimits,
        secrets: Secrets,
        clock: Arc<dyn Clock>,
        folders: Vec<PathBuf>,
    ) -> Self {
        let (phase, _) = watch::channel(ServingPhase::Serving);
        let metrics = Metrics::default();
        agents.live.observe(Arc::new(metrics.clone()));
        let (background, runs) = (Arc::new(BackgroundTasks::default()), OpenRuns::default());
        Self {
            agents,
            access,
            limits,
            secrets,
            clock,
            folders,
            keeper: SessionKeeper::new(runs.clone(), Arc::clone(&background)),
            background,
            metrics,
            resumptions: Resumptions::default(),
            retention: None,
            bodies: UserPlaces::default(),
            streams: UserPlaces::default(),
            new_sessions: UserPlaces::default(),
            runs,
            phase,
        }
    }

    /// The same server, which archives and deletes sessions that are as old as this.
    #[must_use]
    pub fn with_retention(self, retention: SessionRetention) -> Self {
        Self { retention: Some(retention), ..self }
    }

    /// Returns the entry codes, if browsers come in by them.
    #[must_use]
    pub fn entry(&self) -> Option<&BrowserEntry> {
        self.access.entry()
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.agents.store.0
    }

    pub(crate) fn live(&self) -> &LiveSessions {
        &self.agents.live
    }

    /// Follows a session from the record after `after` on.
    pub(crate) fn follow(&self, session: SessionId, after: u64) -> Follow {
        Follow::among(self.live(), Arc::clone(self.store()), Arc::clone(&self.clock), session, after)
    }

    /// Returns the caller's session with this id; sessions of others are not there for them.
    pub(crate) async fn session(&self, caller: &Caller, session: SessionId) -> Result<SessionRow, ApiError> {
        let row = self.store().row(session).await?;
        row.filter(|row| caller.may_use(&row.owner)).ok_or_else(ApiError::no_session)
    }

    /// Builds the agent of a new session in one of the server's folders, the first if none is named.
    pub(crate) async fn agent_in(&self, caller: &Caller, folder: Option<&Path>) -> Result<SessionAgent, ApiError> {
        let Some(folder) = folder else { return self.agent(caller, None, AgentPurpose::Say).await };
        self.refuse_while_draining()?;
        if !self.folders.iter().any(|known| known == folder) {
            return Err(ApiError::new(ErrorKind::Forbidden, "this server has no sessions in that folder")
                .hint("GET /api/me lists its folders"));
        }
        self.agent_of(caller, folder).await
    }

    /// Builds the agent of a new session in this folder.
    pub(crate) async fn agent_of(&self, caller: &Caller, folder: &Path) -> Result<SessionAgent, ApiError> {
        let request = AgentRequest { folder: Some(folder), ..page_request(&caller.user, None, AgentPurpose::Say) };
        Ok(self.agents.agent(request).await?)
    }

    /// Refuses to work in a folder that the operator does not serve: sessions of a terminal may have others. They are
    /// listed, followed, stopped and answered all the same. The demo's folders are served.
    pub(crate) fn check_folder(&self, row: &SessionRow) -> Result<(), ApiError> {
        let Some(home) = &row.workspace else { return Ok(()) };
        let is_served = self.folders.iter().any(|folder| folder.display().to_string() == *home);
        if is_served || is_scratch(Path::new(home), &std::env::temp_dir()) {
            return Ok(());
        }
        Err(ApiError::new(ErrorKind::Forbidden, "this session works in a folder that this server does not serve")
            .hint("go on with it at a terminal, or start the server with `--folder` for its folder"))
    }

    /// Refuses another session to a user who has as many as they may. The place is to be held until the session is stored:
    /// those that are being made at the same time count, too.
    pub(crate) async fn room_for_session(&self, caller: &Caller) -> Result<Option<TakenPlaces>, ApiError> {
        let most = self.limits.user_sessions;
        if caller.role == CallerRole::Admin {
            return Ok(None);
        }
        let place = self.new_sessions.take(&caller.user, 1, usize::MAX);
        let stored = self.store().session_count(&caller.user).await?;
        if stored.saturating_add(self.new_sessions.taken(&caller.user) as u64) <= most {
            return Ok(place);
        }
        let error = ApiError::new(ErrorKind::Limited, format!("you have {most} sessions, as many as you may"));
        Err(ApiError { retry_after: Some(60), ..error.hint("delete some that you no longer need") })
    }

    /// Returns the place of a stream of events.
    pub(crate) fn stream_place(&self, caller: &Caller) -> Result<TakenPlaces, ApiError> {
        let most = self.of_user(caller, self.limits.user_streams);
        self.streams.take(&caller.user, 1, most).ok_or_else(|| {
            let message = format!("you have {most} streams of events open, as many as you may");
            let error = ApiError::new(ErrorKind::Limited, message).hint("close some pages of this server");
            ApiError { retry_after: Some(5), ..error }
        })
    }

    /// Returns the limit that holds for a caller: only users have one of their own.
    fn of_user(&self, caller: &Caller, most: usize) -> usize {
        match caller.role {
            CallerRole::User => most,
            CallerRole::Admin => usize::MAX,
        }
    }

    /// Builds the agent that new sessions of the caller would have, to show how it is set up. That works to the end.
    pub(crate) async fn shown_agent(&self, caller: &Caller) -> Result<SessionAgent, ApiError> {
        Ok(self.agents.agent(page_request(&caller.user, None, AgentPurpose::Say)).await?)
    }

    /// Builds the agent of a session, or of a new one, for a person at the page.
    pub(crate) async fn agent(
        &self,
        caller: &Caller,
        row: Option<&SessionRow>,
        purpose: AgentPurpose,
    ) -> Result<SessionAgent, ApiError> {
        row.map_or(Ok(()), |row| self.check_folder(row))?;
        self.refuse_while_draining()?;
        Ok(self.agents.agent(page_request(&caller.user, row, purpose)).await?)
    }

    /// Refuses new work while the server is being shut down, or while too many runs are open. Returns the place of the run,
    /// to be held until the session is kept open.
    pub(crate) fn accept_work(&self, caller: &Caller, session: SessionId) -> Result<RunPlace, ApiError> {
        self.refuse_while_draining()?;
        let of_user = self.of_user(caller, self.limits.user_runs);
        self.runs.begin(session, &caller.user, self.limits.runs, of_user).map_err(|full| {
            let message = match full {
                NoPlace::InServer => format!("{} runs are open, as many as this server allows", self.limits.runs),
                NoPlace::OfUser => format!("{of_user} runs of yours are open, as many as you may have"),
            };
            let error = ApiError::new(ErrorKind::Limited, message).hint("send again when one has ended");
            ApiError { retry_after: Some(5), ..error }
        })
    }

    /// Refuses what would open a session while the server is being shut down.
    pub(crate) fn refuse_while_draining(&self) -> Result<(), ApiError> {
        match self.phase() {
            ServingPhase::Serving => Ok(()),
            ServingPhase::Draining | ServingPhase::Ended => {
                let error = ApiError::new(ErrorKind::Draining, "the server is being shut down; nothing was stored");
                Err(ApiError { retry_after: Some(10), ..error }.hint("send again when it is back"))
            }
        }
    }

    pub(crate) fn phase(&self) -> ServingPhase {
        *self.phase.borrow()
    }

    pub(crate) fn enter(&self, phase: ServingPhase) {
        self.phase.send_replace(phase);
    }

    /// Whether only the demo model would answer in new sessions of this user.
    pub async fn plays_demo(&self, user: &str) -> Result<bool, SessionAgentError> {
        let request = page_request(user, None, AgentPurpose::Say);
        Ok(self.agents.agent(request).await?.model.as_str() == DEMO)
    }

    /// Whether a run is open in a session of this server.
    #[must_use]
    pub fn has_open_runs(&self) -> bool {
        self.live().count() > 0
    }

    /// Closes what is still open: sessions and tool servers. Open runs go on when they are opened again.
    pub async fn end(&self) {
        self.live().close_all(self.store()).await;
        self.agents.servers.close().await;
    }

    /// Waits until every session is closed because the server ends.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut phase = self.phase.subscribe();
        async move {
            // An error means that the state is gone, and the server with it.
            let _ = phase.wait_for(|phase| *phase == ServingPhase::Ended).await;
        }
    }
}

/// Returns the request for the agent of a session, or of a new one, for a person at the page.
fn page_request<'a>(user: &'a str, row: Option<&'a SessionRow>, purpose: AgentPurpose) -> AgentRequest<'a> {
    AgentRequest {
        session: row,
        owner: user,
        folder: None,
        purpose,
        attendance: Attendance::Attended,
        fallback: ModelFallback::Demo,
    }
}
