//! Keeps sessions open while they have something to do: their driver lives as long as somebody has a handle.
//!
//! The protocol: a request holds the session that it has opened as a [`HeldSession`]. However the request ends, cut off by
//! its client too, the handle then goes to the session's keeper: one task for each session, which closes it once no run is
//! open and no message waits.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_runtime::{Session, SessionActivity};
use windlass_vocab::{SessionId, StopBy};

use crate::background::BackgroundTasks;
use crate::open_runs::OpenRuns;

/// Keeps the sessions of a server open.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionKeeper {
    kept: KeptSessions,
    runs: OpenRuns,
    tasks: Arc<BackgroundTasks>,
}

/// A session that a request has open.
#[derive(Debug)]
pub(crate) struct HeldSession {
    session: Session,
    keeper: SessionKeeper,
}

/// The sessions that have a keeper, each with the handle that its keeper goes on with. A handle may be of a driver that
/// took the place of the one that the keeper watches.
#[derive(Clone, Debug, Default)]
struct KeptSessions(Arc<Mutex<HashMap<SessionId, Option<Session>>>>);

impl SessionKeeper {
    /// Returns a keeper whose sessions have their place among these runs, and whose tasks are these.
    pub(crate) fn new(runs: OpenRuns, tasks: Arc<BackgroundTasks>) -> Self {
        Self { kept: KeptSessions::default(), runs, tasks }
    }

    /// Holds a session for a request.
    pub(crate) fn hold(&self, session: Session) -> HeldSession {
        HeldSession { session, keeper: self.clone() }
    }

    /// Keeps a session open until its run has ended and nothing waits. It has its place among the open runs for as long.
    pub(crate) fn keep(&self, session: Session) {
        let Some(session) = self.kept.hand_over(session) else { return };
        let (kept, place) = (self.kept.clone(), self.runs.hold(session.id(), None));
        self.tasks.spawn(async move {
            kept.keep(session).await;
            drop(place);
        });
    }

    /// Stops the run of a session, which keeps its place until it has ended.
    pub(crate) fn stop(&self, session: Session) {
        self.keep(session.clone());
        self.tasks.spawn(async move {
            // An error means that the session is closed: nothing runs.
            let _ = session.stop(StopBy::Person).await;
        });
    }
}

impl KeptSessions {
    /// Leaves a handle to the session's keeper. Returns it if there is none: the caller is to be the keeper.
    fn hand_over(&self, session: Session) -> Option<Session> {
        match self.sessions().entry(session.id()) {
            Entry::Occupied(mut kept) => {
                kept.insert(Some(session));
                None
            }
            Entry::Vacant(place) => {
                place.insert(None);
                Some(session)
            }
        }
    }

    async fn keep(&self, mut session: Session) {
        loop {
            until_idle(&session).await;
            match self.next(session.id()) {
                Some(next) => session = next,
                None => return session.close().await,
            }
        }
    }

    /// Returns the handle that was left meanwhile. Without one the session has no keeper any more.
    fn next(&self, session: SessionId) -> Option<Session> {
        let mut sessions = self.sessions();
        let next = sessions.get_mut(&session)?.take();
        if next.is_none() {
            sessions.remove(&session);
        }
        next
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Option<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until no run is open and no message waits, or the session is closed. A run that waits for a person keeps it open,
/// so that an answer reaches it at once and its question expires in time.
async fn until_idle(session: &Session) {
    loop {
        match session.settled().await {
            SessionActivity::Waiting(questions) => {
                for asked in questions {
                    session.wait_past_question(asked.question).await;
                }
            }
            SessionActivity::Working => {}
            SessionActivity::Idle | SessionActivity::Closed(_) => return,
        }
    }
}

impl Deref for HeldSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl Drop for HeldSession {
    fn drop(&mut self) {
        self.keeper.keep(self.session.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass::Agent;
    use windlass_runtime::{LiveSessions, Subscription};
    use windlass_testkit::{FaultKind, ModelServer, Script, ScriptStep};
    use windlass_vocab::{EndReason, Event, MessageId, Record};

    use super::SessionKeeper;
    use crate::open_runs::{NoPlace, OpenRuns};

    fn agent(server: &ModelServer, folder: &Path, live: &LiveSessions) -> Agent {
        let agent = Agent::builder().base_url(server.base_url()).model("scripted").workspace(folder).in_memory();
        agent.deny("run_command").live_sessions(live.clone()).build().unwrap()
    }

    fn hanging() -> Script {
        Script::of([ScriptStep::say("never").fault(FaultKind::Delay { ms: 3_600_000 })])
    }

    /// Waits until a run has begun.
    async fn begin(events: &mut Subscription) {
        while let Some(event) = events.next().await {
            if matches!(&event, Event::Record(envelope) if matches!(envelope.record, Record::RunStarted(_))) {
                return;
            }
        }
    }

    /// Waits until the session is closed; returns how its run ended.
    async fn end(events: &mut Subscription) -> Option<EndReason> {
        let mut reason = None;
        while let Some(event) = events.next().await {
            if let Event::Record(envelope) = event
                && let Record::RunEnded(ended) = &envelope.record
            {
                reason = Some(ended.reason);
            }
        }
        reason
    }

    // proves W3, J3: a request that is cut off leaves no run without a driver, and no session open for ever
    #[tokio::test]
    async fn a_run_goes_on_to_its_end_when_the_request_that_began_it_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let server = ModelServer::start(Script::of([ScriptStep::say("Done.")])).unwrap();
        let (live, keeper) = (LiveSessions::default(), SessionKeeper::default());
        let (session, mut events) = agent(&server, folder.path(), &live).open_followed("k").await.unwrap();
        let id = session.id();
        let request = async {
            let held = keeper.hold(session);
            held.send(MessageId::from("m"), "go").await.unwrap();
            // What the handler would do next never comes.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = request => {}
            () = begin(&mut events) => {}
        }
        assert_eq!(end(&mut events).await, Some(EndReason::Completed));
        assert!(!live.has(id));
    }

    // proves W3: many messages to a session cost one task
    #[tokio::test]
    async fn a_session_has_one_keeper_however_many_requests_open_it() {
        let folder = tempfile::tempdir().unwrap();
        let server = ModelServer::start(hanging()).unwrap();
        let (live, keeper) = (LiveSessions::default(), SessionKeeper::default());
        let agent = agent(&server, folder.path(), &live);
        let (session, mut events) = agent.open_followed("k").await.unwrap();
        session.send(MessageId::from("m"), "go").await.unwrap();
        for _ in 0..20 {
            drop(keeper.hold(agent.open("k").await.unwrap()));
        }
        drop(session);
        assert_eq!(keeper.tasks.count(), 1);
        keeper.stop(agent.open("k").await.unwrap());
        assert_eq!(end(&mut events).await, Some(EndReason::Cancelled));
    }

    // proves W3: a run that is stopped because its client went counts until it has ended
    #[tokio::test]
    async fn a_run_that_is_being_stopped_keeps_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let server = ModelServer::start(hanging()).unwrap();
        let (live, runs) = (LiveSessions::default(), OpenRuns::default());
        let keeper = SessionKeeper::new(runs.clone(), std::sync::Arc::default());
        let (session, mut events) = agent(&server, folder.path(), &live).open_followed("k").await.unwrap();
        let place = runs.begin(session.id(), "ann", 1, 1).unwrap();
        session.send(MessageId::from("m"), "go").await.unwrap();
        let other = windlass_vocab::SessionId(uuid::Uuid::from_u128(7));
        keeper.stop(session);
        drop(place);
        // No task has run since.
        assert_eq!(runs.begin(other, "bob", 1, 1).unwrap_err(), NoPlace::InServer);
        assert_eq!(end(&mut events).await, Some(EndReason::Cancelled));
        while runs.begin(other, "bob", 1, 1).is_err() {
            tokio::task::yield_now().await;
        }
    }
}
