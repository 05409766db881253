//! The task that supervises a server, from being woken to being given up (P2, P3).

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

/// Delay before starting a program that nothing waits for yet: the run that woke the server is about to send a model
/// request, and starting a dozen processes would delay that.
const HEAD_START: Duration = Duration::from_millis(50);
/// How often a dead server is restarted, and the delay before the first restart.
const RESTARTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// A server that lived this long gets the full number of restarts again.
const STEADY: Duration = Duration::from_secs(60);
/// How long to collect change notifications before listing the tools again.
const GATHER: Duration = Duration::from_millis(250);
/// Minimum interval between two listings, however often the server reports a change.
const BETWEEN: Duration = Duration::from_secs(5);

/// How a connection ended.
enum ConnectionEnd {
    Gone,
    Stopped,
}

impl Server {
    /// Whether connecting starts a program. `false` for an invalid entry, whose error is then reported without delay.
    fn starts_a_program(&self) -> bool {
        matches!(self.config.expanded(&self.name, &*self.options.variables), Ok(ServerTransport::Stdio { .. }))
    }

    /// Supervises the server from being woken to being given up.
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

    /// Connects in a tracing span that records the server's name and the outcome (0020).
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
        self.publish(NoticeKind::Restarting { reason, attempt });
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
        self.publish(NoticeKind::Unavailable { reason });
    }

    fn needs_auth(&self, challenge: Option<String>) {
        self.lock().last_error = Some(WANTS_LOGIN.into());
        self.set(ConnectionPhase::NeedsAuth { challenge });
        self.publish(NoticeKind::NeedsAuth);
    }

    /// Supervises a connected server until it is gone or Windlass shuts down.
    async fn attend(self: &Arc<Self>) -> ConnectionEnd {
        let mut refreshed: Option<Instant> = None;
        loop {
            // A login during a call may have replaced the connection.
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

    /// Lists the tools again after the server reported a change.
    async fn refresh(self: &Arc<Self>, connection: &ServerConnection) {
        // If the server does not answer, the old tools stay; if it is gone, `attend` notices.
        if let Ok(Ok(listing)) = timeout(self.config.startup_timeout, listing::list(&connection.peer)).await {
            self.take_in(connection, listing);
        }
    }

    /// Stores a listing, reports its problems, and remembers it.
    pub(super) fn take_in(self: &Arc<Self>, connection: &ServerConnection, listing: ToolListing) {
        let notices: Vec<NoticeKind> = listing.notices.into_iter().map(|notice| self.scrubbed(notice)).collect();
        self.lock().left_out = notices.iter().filter_map(left_out).collect();
        for notice in notices {
            self.publish(notice);
        }
        let _alone = self.remembering();
        let mut memory = self.lock_memory();
        let version = Some(connection.info.server_info.as_ref().map_or_else(String::new, |info| info.version.clone()));
        // A new version may support a newer revision: probe again next time.
        let updated = memory.version.is_some() && memory.version != version;
        memory.handshake = (!updated).then(|| connection.era.into());
        memory.version = version;
        memory.revision = Some(connection.revision().to_owned());
        let before: Vec<String> = memory.changed().map(|tool| tool.name.clone()).collect();
        memory.learn(&listing.tools);
        for tool in memory.changed().filter(|tool| !before.contains(&tool.name)) {
            self.publish(NoticeKind::ToolChanged { tool: tool.name.clone() });
        }
        self.remember(memory);
    }
}

/// Returns the tool of a notice about a tool that can't be offered.
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
