//! Whoever looks after a server: from being woken to being given up (P2, P3).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tracing::field::Empty;
use tracing::{Instrument, info, info_span};

use super::{ConnectionPhase, Server, Start};
use crate::config::ServerTransport;
use crate::connect::ConnectError;
use crate::connection::ServerConnection;
use crate::listing::{self, ToolListing};
use crate::notice::{NoticeKind, WANTS_LOGIN};
use crate::state::UnofferedTool;

/// How long a program that nobody waits for is not started: whoever woke the server has a request to send, and
/// starting a dozen processes would hold that up.
const HEAD_START: Duration = Duration::from_millis(50);
/// How often a server that died is started again, and how long before the first time.
const RESTARTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// A server that lived so long may die afresh.
const STEADY: Duration = Duration::from_secs(60);
/// How long changes of a listing are gathered before it is asked for again.
const GATHER: Duration = Duration::from_millis(250);
/// How long between two such questions, however often the server says that it has changed.
const BETWEEN: Duration = Duration::from_secs(5);

/// How a time of being connected ended.
enum ConnectionEnd {
    Gone,
    Stopped,
}

impl Server {
    /// Whether reaching it means starting a program; what is wrong with an entry is told at once.
    fn starts_a_program(&self) -> bool {
        matches!(self.config.expanded(&self.name, &*self.options.variables), Ok(ServerTransport::Stdio { .. }))
    }

    /// The life of a server, from being woken to being given up.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut deaths = 0;
        let stop = self.stop.clone();
        if self.starts_a_program()
            && stop.run_until_cancelled(timeout(HEAD_START, self.hurry.notified())).await.is_none()
        {
            return self.set(ConnectionPhase::Closed);
        }
        loop {
            let reached = tokio::select! {
                reached = self.reach_in_span() => reached,
                () = stop.cancelled() => return self.set(ConnectionPhase::Closed),
            };
            let reason = match reached {
                Ok((connection, listing)) => {
                    let since = Instant::now();
                    self.forget_failure();
                    self.take_in(&connection, listing);
                    self.set(ConnectionPhase::Connected(Arc::new(connection)));
                    match self.attend().await {
                        ConnectionEnd::Stopped => return self.set(ConnectionPhase::Closed),
                        ConnectionEnd::Gone => {}
                    }
                    if since.elapsed() >= STEADY {
                        deaths = 0;
                    }
                    self.lock().last_error.clone().unwrap_or_default()
                }
                Err(ConnectError::NeedsAuth { challenge }) => return self.needs_auth(challenge),
                Err(ConnectError::Failed(reason)) if deaths == 0 => return self.give_up(&reason),
                Err(ConnectError::Failed(reason)) => {
                    self.lock().start = Start::Missed;
                    reason
                }
            };
            if deaths == RESTARTS {
                return self.give_up(&reason);
            }
            deaths += 1;
            self.restart_later(&reason, deaths).await;
        }
    }

    /// Reaches it in a span of its own: its name, and how that went (0020).
    async fn reach_in_span(self: &Arc<Self>) -> Result<(ServerConnection, ToolListing), ConnectError> {
        let span = info_span!("connect", server = self.name.as_str(), outcome = Empty, tools = Empty);
        let reached = self.reach_logging_in().instrument(span.clone()).await;
        match &reached {
            Ok((_, listing)) => {
                span.record("outcome", "ok");
                span.record("tools", listing.tools.len());
            }
            Err(ConnectError::NeedsAuth { .. }) => {
                span.record("outcome", "needs_login");
            }
            Err(ConnectError::Failed(_)) => {
                span.record("outcome", "failed");
            }
        }
        reached
    }

    fn forget_failure(&self) {
        let mut inner = self.lock();
        inner.last_error = None;
        inner.start = Start::Awaited;
    }

    async fn restart_later(&self, reason: &str, attempt: u32) {
        let reason = self.options.secrets.scrub(reason).into_owned();
        self.lock().last_error = Some(reason.clone());
        self.set(ConnectionPhase::Restarting);
        info!(server = self.name.as_str(), attempt, "restart");
        self.tell(NoticeKind::Restarting { reason, attempt });
        let wait = FIRST_WAIT * 2u32.pow(attempt - 1);
        tokio::select! {
            () = sleep(wait) => {}
            () = self.stop.cancelled() => {}
        }
    }

    fn give_up(&self, reason: &str) {
        let reason = self.options.secrets.scrub(reason).into_owned();
        self.lock().last_error = Some(reason.clone());
        self.set(ConnectionPhase::Failed);
        self.tell(NoticeKind::Unavailable { reason });
    }

    fn needs_auth(&self, challenge: Option<String>) {
        self.lock().last_error = Some(WANTS_LOGIN.into());
        self.set(ConnectionPhase::NeedsAuth { challenge });
        self.tell(NoticeKind::NeedsAuth);
    }

    /// Stays with a connected server until it is gone or Windlass is.
    async fn attend(self: &Arc<Self>) -> ConnectionEnd {
        let mut refreshed: Option<Instant> = None;
        loop {
            // A login in mid-call may have put another connection in its place.
            let ConnectionPhase::Connected(connection) = self.phase() else {
                self.settled().await;
                if self.stop.is_cancelled() || !matches!(self.phase(), ConnectionPhase::Connected(_)) {
                    return ConnectionEnd::Stopped;
                }
                continue;
            };
            tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    connection.close().await;
                    return ConnectionEnd::Stopped;
                }
                () = connection.gone.cancelled() => {
                    if matches!(self.phase(), ConnectionPhase::Connected(other) if Arc::ptr_eq(&other, &connection)) {
                        self.lock().last_error = Some(connection.why_gone());
                        connection.close().await;
                        return ConnectionEnd::Gone;
                    }
                }
                () = connection.changed.notified() => {
                    let earliest = refreshed.map_or_else(Instant::now, |at| at + BETWEEN);
                    let wait = GATHER.max(earliest.saturating_duration_since(Instant::now()));
                    tokio::select! {
                        () = sleep(wait) => self.refresh(&connection).await,
                        () = connection.gone.cancelled() => {}
                        () = self.stop.cancelled() => {}
                    }
                    refreshed = Some(Instant::now());
                }
            }
        }
    }

    /// Asks for the tools again, because the server said that they changed.
    async fn refresh(self: &Arc<Self>, connection: &ServerConnection) {
        // If it does not answer, it goes on with what it had; if it is gone, that shows elsewhere.
        if let Ok(Ok(listing)) = timeout(self.config.startup_timeout, listing::list(&connection.peer)).await {
            self.take_in(connection, listing);
        }
    }

    /// Takes a listing in, tells of what is wrong with it, and remembers it.
    pub(super) fn take_in(self: &Arc<Self>, connection: &ServerConnection, listing: ToolListing) {
        let notices: Vec<NoticeKind> = listing.notices.into_iter().map(|notice| self.scrubbed(notice)).collect();
        self.lock().left_out = notices.iter().filter_map(left_out).collect();
        for notice in notices {
            self.tell(notice);
        }
        let _alone = self.remembering();
        let mut memory = self.lock_memory();
        let version = Some(connection.info.server_info.as_ref().map_or_else(String::new, |info| info.version.clone()));
        // A new version may speak a newer revision: it is found out the next time.
        let updated = memory.version.is_some() && memory.version != version;
        memory.handshake = (!updated).then(|| connection.era.into());
        memory.version = version;
        memory.revision = Some(connection.revision().to_owned());
        let before: Vec<String> = memory.changed().map(|tool| tool.name.clone()).collect();
        memory.learn(&listing.tools);
        for tool in memory.changed().filter(|tool| !before.contains(&tool.name)) {
            self.tell(NoticeKind::ToolChanged { tool: tool.name.clone() });
        }
        self.remember(memory);
    }
}

/// What a notice says of a tool that can't be offered, if it is about one.
fn left_out(notice: &NoticeKind) -> Option<UnofferedTool> {
    match notice {
        NoticeKind::ToolSkipped { tool, reason } => Some(UnofferedTool { tool: tool.clone(), reason: reason.clone() }),
        NoticeKind::Garbage { .. }
        | NoticeKind::ToolChanged { .. }
        | NoticeKind::ListingCut { .. }
        | NoticeKind::Unavailable { .. }
        | NoticeKind::NeedsAuth
        | NoticeKind::Restarting { .. }
        | NoticeKind::NotRemembered { .. } => None,
    }
}
