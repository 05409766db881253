//! The sessions this process has open.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass::Session;
use windlass_vocab::SessionId;

use super::awaited_run::{AwaitedRun, busy};
use crate::error::CommandError;

/// The state of an open session.
enum OpenSession {
    /// A request follows its run.
    Followed(Session),
    /// Its run waits for answers that the client sends with its next request.
    Parked(Box<AwaitedRun>),
}

/// The sessions this process has open.
#[derive(Default)]
pub(super) struct OpenSessions(Mutex<HashMap<SessionId, OpenSession>>);

impl OpenSessions {
    /// Records that a request follows this session's run.
    pub(super) fn follow(&self, session: &Session) {
        self.sessions().insert(session.id(), OpenSession::Followed(session.clone()));
    }

    /// Keeps a run that waits for the client's answers.
    pub(super) fn park(&self, awaited_run: AwaitedRun) {
        self.sessions().insert(awaited_run.session.id(), OpenSession::Parked(Box::new(awaited_run)));
    }

    /// Removes a session that is no longer open here.
    pub(super) fn forget(&self, session: SessionId) {
        self.sessions().remove(&session);
    }

    /// Takes the parked run of a session; `None` when the session is not open here.
    pub(super) fn take(&self, session: SessionId, key: &str) -> Result<Option<AwaitedRun>, CommandError> {
        let mut sessions = self.sessions();
        match sessions.remove(&session) {
            None => Ok(None),
            Some(OpenSession::Parked(awaited_run)) => {
                sessions.insert(session, OpenSession::Followed(awaited_run.session.clone()));
                Ok(Some(*awaited_run))
            }
            Some(followed @ OpenSession::Followed(_)) => {
                sessions.insert(session, followed);
                Err(busy(key))
            }
        }
    }

    /// Returns a handle to the session if a request follows its run.
    pub(super) fn followed(&self, session: SessionId) -> Option<Session> {
        match self.sessions().get(&session)? {
            OpenSession::Followed(session) => Some(session.clone()),
            OpenSession::Parked(_) => None,
        }
    }

    /// Closes every session; open runs stay open.
    pub(super) async fn close(&self) {
        let sessions: Vec<OpenSession> = self.sessions().drain().map(|(_, sessions)| sessions).collect();
        for sessions in sessions {
            match sessions {
                OpenSession::Followed(session) => session.close().await,
                OpenSession::Parked(awaited_run) => awaited_run.session.close().await,
            }
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, OpenSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
