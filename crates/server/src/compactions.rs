//! The sessions whose next run is to begin with a summary of the conversation so far (C5). Nothing is stored before that run
//! begins, and a session that has nothing to do is closed, with what its driver was asked for: so it is remembered here.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use windlass_vocab::SessionId;

#[derive(Debug, Default)]
pub(crate) struct WantedCompactions(Mutex<HashSet<SessionId>>);

impl WantedCompactions {
    /// The next run of this session is to begin with a summary.
    pub(crate) fn want(&self, session: SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(session);
    }

    /// Whether a summary is wanted of whoever begins the next run.
    pub(crate) fn take(&self, session: SessionId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&session)
    }
}
