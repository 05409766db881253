//! How many resumed runs may work at once, and which runs are left alone because they can't be resumed now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use windlass_vocab::{SessionId, Timestamp};

/// How many resumed runs work at once.
const AT_ONCE: usize = 16;
/// How long a run that can't be resumed is left alone: after the first time, and at most.
const FIRST_PAUSE_MS: u64 = 60_000;
const LONGEST_PAUSE_MS: u64 = 3_600_000;

/// What is kept between two looks.
#[derive(Debug)]
pub(crate) struct Resumptions {
    pub(crate) places: Arc<Semaphore>,
    put_off: Mutex<HashMap<SessionId, PutOff>>,
}

/// A run that could not be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PutOff {
    until: Timestamp,
    pause_ms: u64,
}

impl Default for Resumptions {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), put_off: Mutex::default() }
    }
}

impl Resumptions {
    pub(crate) fn is_put_off(&self, session: SessionId, now: Timestamp) -> bool {
        self.locked().get(&session).is_some_and(|put_off| now < put_off.until)
    }

    /// Leaves a run alone for a while, each time for longer.
    pub(crate) fn put_off(&self, session: SessionId, now: Timestamp) {
        let mut all = self.locked();
        let pause_ms = all.get(&session).map_or(FIRST_PAUSE_MS, |before| (before.pause_ms * 2).min(LONGEST_PAUSE_MS));
        all.insert(session, PutOff { until: now.plus_ms(pause_ms), pause_ms });
    }

    pub(crate) fn resumed(&self, session: SessionId) {
        self.locked().remove(&session);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<SessionId, PutOff>> {
        self.put_off.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{SessionId, Timestamp};

    use super::{FIRST_PAUSE_MS, LONGEST_PAUSE_MS, Resumptions};

    // proves J5: a run that can't be resumed is tried again, more and more seldom
    #[test]
    fn a_run_that_cannot_be_resumed_is_tried_again_more_and_more_seldom() {
        let (resumptions, session) = (Resumptions::default(), SessionId(uuid::Uuid::from_u128(1)));
        let mut now = Timestamp(0);
        assert!(!resumptions.is_put_off(session, now));
        for pause in [FIRST_PAUSE_MS, 2 * FIRST_PAUSE_MS, 4 * FIRST_PAUSE_MS] {
            resumptions.put_off(session, now);
            assert!(resumptions.is_put_off(session, now.plus_ms(pause - 1)), "{pause}");
            now = now.plus_ms(pause);
            assert!(!resumptions.is_put_off(session, now), "{pause}");
        }
        for _ in 0..10 {
            resumptions.put_off(session, now);
        }
        assert!(!resumptions.is_put_off(session, now.plus_ms(LONGEST_PAUSE_MS)));
        resumptions.put_off(session, now);
        resumptions.resumed(session);
        assert!(!resumptions.is_put_off(session, now));
    }
}
