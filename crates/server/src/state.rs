//! What all requests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use windlass_runtime::{Clock, Follow, LiveSessions, Session};
use windlass_setup::session_agent::{AgentPurpose, AgentRequest, SessionAgent, SessionAgents};
use windlass_store::{SessionRow, Store};
use windlass_tools::Secrets;
use windlass_vocab::{Attendance, SessionId};

use crate::access::{Access, BrowserEntry, Caller};
use crate::background::BackgroundTasks;
use crate::error::{ApiError, ErrorKind};
use crate::keep_open::keep_open;
use windlass_setup::models::ModelFallback;

/// Whether the server takes new work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServingPhase {
    /// It does.
    Serving,
    /// It is being shut down: nothing new starts.
    Draining,
}

/// The limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceLimits {
    /// The largest body of a request, in bytes.
    pub body: usize,
    /// How many runs may be open at once.
    pub runs: usize,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        Self { body: 32 * 1024 * 1024, runs: 64 }
    }
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
    pub(crate) background: BackgroundTasks,
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
        Self { agents, access, limits, secrets, clock, folders, background: BackgroundTasks::default(), phase }
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
        if !self.folders.iter().any(|known| known == folder) {
            return Err(ApiError::new(ErrorKind::Forbidden, "this server has no sessions in that folder")
                .hint("GET /api/me lists its folders"));
        }
        let request = AgentRequest { folder: Some(folder), ..page_request(caller, None, AgentPurpose::Say) };
        Ok(self.agents.agent(request).await?)
    }

    /// Builds the agent of a session, or of a new one, for a person at the page.
    pub(crate) async fn agent(
        &self,
        caller: &Caller,
        row: Option<&SessionRow>,
        purpose: AgentPurpose,
    ) -> Result<SessionAgent, ApiError> {
        Ok(self.agents.agent(page_request(caller, row, purpose)).await?)
    }

    /// Keeps a session open until its run has ended and nothing waits.
    pub(crate) fn keep_open(&self, session: Session) {
        self.background.spawn(keep_open(session));
    }

    /// Refuses new work while the server is being shut down, or while too many runs are open.
    pub(crate) fn accept_work(&self, session: SessionId) -> Result<(), ApiError> {
        if self.phase() == ServingPhase::Draining {
            let error = ApiError::new(ErrorKind::Draining, "the server is being shut down");
            return Err(ApiError { retry_after: Some(10), ..error });
        }
        if !self.live().has(session) && self.live().count() >= self.limits.runs {
            let message = format!("{} runs are open, as many as this server allows", self.limits.runs);
            let error = ApiError::new(ErrorKind::Limited, message).hint("send again when one has ended");
            return Err(ApiError { retry_after: Some(5), ..error });
        }
        Ok(())
    }

    pub(crate) fn phase(&self) -> ServingPhase {
        *self.phase.borrow()
    }

    /// Begins the end: nothing new starts, and those who follow are sent home.
    pub fn begin_drain(&self) {
        self.phase.send_replace(ServingPhase::Draining);
    }

    /// Closes every session and every tool server; open runs go on when they are opened again.
    pub async fn end(&self) {
        self.live().drain(self.store()).await;
        self.agents.servers.close().await;
    }

    /// Waits until the server is being shut down.
    pub(crate) fn draining(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut phase = self.phase.subscribe();
        async move {
            // An error means that the state is gone, and the server with it.
            let _ = phase.wait_for(|phase| *phase == ServingPhase::Draining).await;
        }
    }
}

/// Returns the request for the agent of a session, or of a new one, for a person at the page.
fn page_request<'a>(caller: &'a Caller, row: Option<&'a SessionRow>, purpose: AgentPurpose) -> AgentRequest<'a> {
    AgentRequest {
        session: row,
        owner: &caller.user,
        folder: None,
        purpose,
        attendance: Attendance::Attended,
        fallback: ModelFallback::Demo,
    }
}
