//! Which sessions are at work, and for whom: the places of runs, in the server and for each user.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_vocab::SessionId;

/// The sessions that are at work.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenRuns(Arc<Mutex<HashMap<SessionId, OpenRun>>>);

#[derive(Debug, Default)]
struct OpenRun {
    /// Who began the work; `None` for a session that is open only to be looked after.
    user: Option<String>,
    /// How many hold the place: the request that began the work, and the task that keeps the session open.
    holders: usize,
}

/// A session's place, until all who hold it have dropped it.
#[derive(Debug)]
#[must_use]
pub(crate) struct RunPlace {
    runs: OpenRuns,
    session: SessionId,
}

/// Why there is no place for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// The server has as many as it may.
    InServer,
    /// The user has.
    OfUser,
}

impl OpenRuns {
    /// Takes a place for a session that a user sends work to. A session at work has its place already. `of_user` is how
    /// many the user may have.
    pub(crate) fn begin(
        &self,
        session: SessionId,
        user: &str,
        in_server: usize,
        of_user: usize,
    ) -> Result<RunPlace, NoPlace> {
        let mut runs = self.runs();
        if !runs.contains_key(&session) {
            if runs.len() >= in_server {
                return Err(NoPlace::InServer);
            }
            if runs.values().filter(|run| run.user.as_deref() == Some(user)).count() >= of_user {
                return Err(NoPlace::OfUser);
            }
        }
        let run = runs.entry(session).or_insert_with(|| OpenRun { user: Some(user.to_owned()), holders: 0 });
        run.holders += 1;
        Ok(RunPlace { runs: self.clone(), session })
    }

    /// Holds the place of a session that is open, whatever the limits. The run is this user's if nobody began it here: it
    /// was resumed.
    pub(crate) fn hold(&self, session: SessionId, user: Option<&str>) -> RunPlace {
        let mut runs = self.runs();
        let run = runs.entry(session).or_default();
        run.user = run.user.take().or_else(|| user.map(str::to_owned));
        run.holders += 1;
        RunPlace { runs: self.clone(), session }
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<SessionId, OpenRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunPlace {
    /// Returns the same place for the session that was made for the run.
    pub(crate) fn of(self, session: SessionId) -> Self {
        let user = self.runs.runs().get(&self.session).and_then(|run| run.user.clone());
        // The new place is taken before the old one is given back.
        self.runs.hold(session, user.as_deref())
    }
}

impl Drop for RunPlace {
    fn drop(&mut self) {
        let mut runs = self.runs.runs();
        if let Some(run) = runs.get_mut(&self.session) {
            run.holders = run.holders.saturating_sub(1);
            if run.holders == 0 {
                runs.remove(&self.session);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;
    use windlass_vocab::SessionId;

    use super::{NoPlace, OpenRuns};

    // proves W3: runs are bounded in the server and for each user, and a session at work takes one place
    #[test]
    fn runs_have_places_in_the_server_and_of_their_user() {
        let session = |n| SessionId(Uuid::from_u128(n));
        let runs = OpenRuns::default();
        let first = runs.begin(session(1), "ann", 3, 2).unwrap();
        let again = runs.begin(session(1), "ann", 1, 1).unwrap();
        let kept = runs.hold(session(1), None);
        drop((first, again));
        let second = runs.begin(session(2), "ann", 3, 2).unwrap();
        assert_eq!(runs.begin(session(3), "ann", 3, 2).unwrap_err(), NoPlace::OfUser);
        let of_bob = runs.begin(session(3), "bob", 3, 2).unwrap();
        assert_eq!(runs.begin(session(4), "eve", 3, 2).unwrap_err(), NoPlace::InServer);
        drop(kept);
        let third = runs.begin(session(4), "ann", 3, 2).unwrap();
        drop((second, of_bob, third));
        assert!(runs.runs().is_empty());
    }

    // proves W3: a run that was resumed counts for its owner, and one that gets a session of its own counts once
    #[test]
    fn resumed_runs_and_new_sessions_count_for_their_user() {
        let session = |n| SessionId(Uuid::from_u128(n));
        let runs = OpenRuns::default();
        let resumed = runs.hold(session(1), Some("ann"));
        assert_eq!(runs.begin(session(2), "ann", 3, 1).unwrap_err(), NoPlace::OfUser);
        drop(resumed);
        let made = runs.begin(session(2), "ann", 1, 1).unwrap().of(session(3));
        let kept = runs.hold(session(3), None);
        drop(made);
        assert_eq!(runs.runs().len(), 1);
        assert_eq!(runs.begin(session(4), "ann", 3, 1).unwrap_err(), NoPlace::OfUser);
        drop(kept);
        assert!(runs.runs().is_empty());
    }
}
