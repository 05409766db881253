//! The child session of a driver: kept open between the effects that work with it, and closed when none is owed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_vocab::CallId;

use crate::session::Session;

/// The child session that works on a step, if one is open here.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChildSlot(Arc<Mutex<Option<(CallId, Session)>>>);

impl ChildSlot {
    /// Returns the session of the child at this position.
    pub(crate) fn session(&self, child: CallId) -> Option<Session> {
        self.locked().as_ref().filter(|(kept, _)| *kept == child).map(|(_, session)| session.clone())
    }

    /// Keeps the session of a child open, in place of the one before.
    pub(crate) fn keep(&self, child: CallId, session: Session) {
        *self.locked() = Some((child, session));
    }

    /// Gives the session up; without anybody else its driver ends.
    pub(crate) fn leave(&self) -> Option<Session> {
        self.locked().take().map(|(_, session)| session)
    }

    fn locked(&self) -> MutexGuard<'_, Option<(CallId, Session)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
