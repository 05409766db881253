//! The sessions that have a driver in this process, one driver each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedMutexGuard, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use windlass_store::{Store, StoreError};
use windlass_tools::Secrets;
use windlass_vocab::{Control, SessionId};

use crate::breaker::Breakers;
use crate::feed::Feed;
use crate::membership::OpenCount;
use crate::perform_control::perform;
use crate::record_observer::{ObserverSlot, RecordObserver};
use crate::send_control::{ControlDelivery, send_control};
use crate::session::{DriverCommand, DriverEnd, Session, SessionActivity};

use crate::stored_sessions::StoredSessions;

/// The parts of a live session that others need to join it. It does not keep the session alive.
#[derive(Clone, Debug)]
struct JoinableSession {
    /// The epoch of the lease it is driven under.
    epoch: u64,
    members: OpenCount,
    commands: mpsc::WeakSender<Box<DriverCommand>>,
    feed: Feed,
    activity: watch::Receiver<SessionActivity>,
}

/// The live sessions of a process. Hubs that share it ([`Hub::sharing`](crate::Hub::sharing)) join each other's sessions.
#[derive(Clone, Debug, Default)]
pub struct LiveSessions(Arc<LiveState>);

#[derive(Debug, Default)]
struct LiveState {
    table: Mutex<SessionTable>,
    /// Locked while a session is being opened, so that a second opener joins it instead of failing to claim it.
    opening: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
    began: Notify,
    emptied: Notify,
    observer: ObserverSlot,
    /// Followed sessions that are not live here.
    stored: StoredSessions,
    breakers: Breakers,
}

#[derive(Debug, Default)]
struct SessionTable {
    driven: HashMap<SessionId, JoinableSession>,
    /// The task that polls the store for all live sessions, while there are any.
    poller: Option<AbortHandle>,
}

/// What the live sessions of a process do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveActivity {
    /// How many have no open run.
    pub idle: usize,
    /// How many have an open run in which something is under way.
    pub working: usize,
    /// How many wait for a person.
    pub waiting: usize,
    /// All of them.
    pub sessions: Vec<SessionId>,
}

/// Whether the poller continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PollNext {
    Again,
    Stop,
}

/// Removes a session from the table when its driver ends.
#[derive(Debug)]
pub(crate) struct Registration {
    live: LiveSessions,
    session: SessionId,
}

/// The exclusive right to open one session.
#[derive(Debug)]
pub(crate) struct OpeningTurn {
    live: LiveSessions,
    session: SessionId,
    _guard: OwnedMutexGuard<()>,
}

impl LiveSessions {
    /// Returns the breakers that the sessions share: a model that failed in one rests for all.
    #[must_use]
    pub fn breakers(&self) -> &Breakers {
        &self.0.breakers
    }

    /// Waits until nobody else in this process is opening this session.
    pub(crate) async fn turn(&self, session: SessionId) -> OpeningTurn {
        let lock = Arc::clone(locked(&self.0.opening).entry(session).or_default());
        OpeningTurn { live: self.clone(), session, _guard: lock.lock_owned().await }
    }

    /// Returns another handle to a session that has a driver here. If the driver is about to end, waits until it has,
    /// because it holds the lease until then.
    pub(crate) async fn join(&self, session: SessionId, store: &Arc<dyn Store>) -> Option<Session> {
        let JoinableSession { members, commands, feed, mut activity, .. } = self.driven(session)?;
        let open = commands.upgrade().filter(|commands| !commands.is_closed()).zip(members.join());
        let Some((commands, membership)) = open else {
            let _ = activity.wait_for(|activity| matches!(activity, SessionActivity::Closed(_))).await;
            return None;
        };
        let (store, membership) = (Arc::clone(store), Arc::new(membership));
        Some(Session { id: session, store, commands, feed, activity, membership })
    }

    /// Returns a handle to a session that is driven here under this lease. The handle does not keep the session open.
    pub(crate) fn visit(&self, session: SessionId, epoch: u64, store: &Arc<dyn Store>) -> Option<Session> {
        let driven = self.driven(session).filter(|driven| driven.epoch == epoch)?;
        let (commands, membership) = (driven.commands.upgrade()?, Arc::new(driven.members.visit()));
        let JoinableSession { feed, activity, .. } = driven;
        Some(Session { id: session, store: Arc::clone(store), commands, feed, activity, membership })
    }

    /// Returns the epoch of the lease under which a session is driven here.
    pub(crate) fn epoch(&self, session: SessionId) -> Option<u64> {
        Some(self.driven(session)?.epoch)
    }

    /// Runs `poll` while there are live sessions, once for all of them. It must end when [`Self::next_look`] says so.
    pub(crate) fn start_poller<P: Future<Output = ()> + Send + 'static>(&self, poll: impl FnOnce(Self) -> P) {
        let mut table = locked(&self.0.table);
        if table.poller.as_ref().is_none_or(AbortHandle::is_finished) {
            table.poller = Some(tokio::spawn(poll(self.clone())).abort_handle());
        }
    }

    /// Waits for `wait`, or until no session is live. Returns whether any is live; if not, the poller must end.
    pub(crate) async fn next_look(&self, wait: Duration) -> PollNext {
        // Created before the check, so that a notification in between is not missed.
        let emptied = self.0.emptied.notified();
        if !locked(&self.0.table).driven.is_empty() {
            let _ = tokio::time::timeout(wait, emptied).await;
        }
        let mut table = locked(&self.0.table);
        if table.driven.is_empty() {
            table.poller = None;
            return PollNext::Stop;
        }
        PollNext::Again
    }

    /// Whether the session has a driver here.
    #[must_use]
    pub fn has(&self, session: SessionId) -> bool {
        self.driven(session).is_some()
    }

    /// Returns how many sessions have a driver here.
    #[must_use]
    pub fn count(&self) -> usize {
        locked(&self.0.table).driven.len()
    }

    /// Returns what the sessions do that have a driver here.
    #[must_use]
    pub fn by_activity(&self) -> LiveActivity {
        let mut all = LiveActivity::default();
        for (session, driven) in &locked(&self.0.table).driven {
            match *driven.activity.borrow() {
                SessionActivity::Idle => all.idle += 1,
                SessionActivity::Working => all.working += 1,
                SessionActivity::Waiting(_) => all.waiting += 1,
                SessionActivity::Closed(_) => continue,
            }
            all.sessions.push(*session);
        }
        all
    }

    /// Has every record observed that these sessions store from now on. The first observer stays.
    pub fn observe(&self, observer: Arc<dyn RecordObserver>) {
        self.0.observer.set(observer);
    }

    pub(crate) fn observer(&self) -> ObserverSlot {
        self.0.observer.clone()
    }

    /// Returns the feed of a session that has a driver here.
    pub(crate) fn feed(&self, session: SessionId) -> Option<Feed> {
        Some(self.driven(session)?.feed)
    }

    /// Returns the followed sessions that are not live here.
    pub(crate) fn stored(&self) -> &StoredSessions {
        &self.0.stored
    }

    /// Waits until a session is opened here after this call.
    pub(crate) fn next_opening(&self) -> impl Future<Output = ()> {
        self.0.began.notified()
    }

    pub(crate) fn register(&self, session: &Session, epoch: u64) -> Registration {
        let driven = JoinableSession {
            epoch,
            members: session.membership.members().clone(),
            commands: session.commands.downgrade(),
            feed: session.feed.clone(),
            activity: session.activity.clone(),
        };
        locked(&self.0.table).driven.insert(session.id, driven);
        self.0.began.notify_waiters();
        Registration { live: self.clone(), session: session.id }
    }

    /// Sends a command to a session, whether this process drives it or another that shares the store.
    pub async fn control(
        &self,
        store: &Arc<dyn Store>,
        secrets: &Secrets,
        session: SessionId,
        control: Control,
    ) -> Result<ControlDelivery, StoreError> {
        if let Some(epoch) = self.epoch(session)
            && let Some(session) = self.visit(session, epoch, store)
            && let Ok(outcome) = perform(&session, control.clone()).await?
        {
            return Ok(ControlDelivery::Done(outcome));
        }
        send_control(store.as_ref(), secrets, session, control).await
    }

    /// Closes every live session at once, even if somebody has a handle. Open runs continue when opened again.
    pub async fn close_all(&self, store: &Arc<dyn Store>) {
        self.end_all(store, DriverEnd::AtOnce).await;
    }

    /// Has every live session finish what it has under way, and closes it, even if somebody has a handle (J3): no call, no
    /// model call and no waiting message is begun. What is still under way when `out_of_time` is done is cut short. Open
    /// runs continue when opened again.
    pub async fn drain(&self, store: &Arc<dyn Store>, out_of_time: impl Future<Output = ()>) {
        tokio::select! {
            () = self.end_all(store, DriverEnd::Drained) => {}
            () = out_of_time => self.close_all(store).await,
        }
    }

    /// Ends all drivers, each in its own time, and those of sessions that are opened meanwhile.
    async fn end_all(&self, store: &Arc<dyn Store>, end: DriverEnd) {
        loop {
            let mut ending = JoinSet::new();
            for session in self.all() {
                let (live, store) = (self.clone(), Arc::clone(store));
                ending.spawn(async move {
                    if let Some(session) = live.join(session, &store).await {
                        session.end_driver(end).await;
                    }
                });
            }
            if ending.is_empty() {
                return;
            }
            while ending.join_next().await.is_some() {}
        }
    }

    fn all(&self) -> Vec<SessionId> {
        locked(&self.0.table).driven.keys().copied().collect()
    }

    fn driven(&self, session: SessionId) -> Option<JoinableSession> {
        locked(&self.0.table).driven.get(&session).cloned()
    }
}

impl Registration {
    /// Returns the live sessions of this process.
    pub(crate) fn live(&self) -> &LiveSessions {
        &self.live
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut table = locked(&self.live.0.table);
        table.driven.remove(&self.session);
        if table.driven.is_empty() {
            self.live.0.emptied.notify_waiters();
        }
    }
}

impl Drop for OpeningTurn {
    fn drop(&mut self) {
        let mut opening = locked(&self.live.0.opening);
        // The map and this guard hold one reference each; a waiting opener holds another.
        if opening.get(&self.session).is_some_and(|lock| Arc::strong_count(lock) <= 2) {
            opening.remove(&self.session);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
