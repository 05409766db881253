//! The sessions this process has open.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass::Session;
use windlass_vocab::SessionId;

use super::errand::{Errand, busy};
use crate::error::CommandError;

/// What becomes of an open session.
enum Kept {
    /// A request follows its run.
    Followed(Session),
    /// Its run waits for answers that the client brings with its next request.
    Parked(Box<Errand>),
}

/// The sessions this process has open.
#[derive(Default)]
pub(super) struct Live(Mutex<HashMap<SessionId, Kept>>);

impl Live {
    /// A request follows this session's run from now on.
    pub(super) fn follow(&self, session: &Session) {
        self.kept().insert(session.id(), Kept::Followed(session.clone()));
    }

    /// The run waits for the client.
    pub(super) fn park(&self, errand: Errand) {
        self.kept().insert(errand.session.id(), Kept::Parked(Box::new(errand)));
    }

    /// Nobody follows it any longer.
    pub(super) fn forget(&self, session: SessionId) {
        self.kept().remove(&session);
    }

    /// Takes up what waits for the client; `None` when the session is not open here.
    pub(super) fn take(&self, session: SessionId, key: &str) -> Result<Option<Errand>, CommandError> {
        let mut kept = self.kept();
        match kept.remove(&session) {
            None => Ok(None),
            Some(Kept::Parked(errand)) => {
                kept.insert(session, Kept::Followed(errand.session.clone()));
                Ok(Some(*errand))
            }
            Some(followed @ Kept::Followed(_)) => {
                kept.insert(session, followed);
                Err(busy(key))
            }
        }
    }

    /// A handle to the session whose run a request follows.
    pub(super) fn followed(&self, session: SessionId) -> Option<Session> {
        match self.kept().get(&session)? {
            Kept::Followed(session) => Some(session.clone()),
            Kept::Parked(_) => None,
        }
    }

    /// Lets go of every session; open runs stay open.
    pub(super) async fn close(&self) {
        let kept: Vec<Kept> = self.kept().drain().map(|(_, kept)| kept).collect();
        for kept in kept {
            match kept {
                Kept::Followed(session) => session.close().await,
                Kept::Parked(errand) => errand.session.close().await,
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<SessionId, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
