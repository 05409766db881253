//! The sessions that have a driver in this process: one each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedMutexGuard, mpsc, watch};
use tokio::task::AbortHandle;
use windlass_store::Store;
use windlass_vocab::SessionId;

use crate::feed::Feed;
use crate::membership::Members;
use crate::session::{Command, Session, Standing};

/// What of a live session lets others join it. It does not keep the session alive.
#[derive(Clone, Debug)]
struct Driven {
    /// The lease it is driven under.
    epoch: u64,
    members: Members,
    commands: mpsc::WeakSender<Box<Command>>,
    feed: Feed,
    standing: watch::Receiver<Standing>,
}

/// The live sessions of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveSessions(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    table: Mutex<Table>,
    /// Held by whoever opens a session, so that a second one joins it instead of failing to claim it.
    opening: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
    began: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Table {
    driven: HashMap<SessionId, Driven>,
    /// Looks for what concerns all of them, while there are any.
    poller: Option<AbortHandle>,
}

/// Whether the poller looks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Again,
    NoMore,
}

/// Takes a session off the list when its driver ends.
#[derive(Debug)]
pub(crate) struct Registration {
    live: LiveSessions,
    session: SessionId,
}

/// The right to open one session.
#[derive(Debug)]
pub(crate) struct Turn {
    live: LiveSessions,
    session: SessionId,
    _guard: OwnedMutexGuard<()>,
}

impl LiveSessions {
    /// Waits until nobody else here is opening this session.
    pub(crate) async fn turn(&self, session: SessionId) -> Turn {
        let lock = Arc::clone(locked(&self.0.opening).entry(session).or_default());
        Turn { live: self.clone(), session, _guard: lock.lock_owned().await }
    }

    /// Another handle to a session that has a driver here. One whose driver is about to end is waited for, since it
    /// holds the lease until then.
    pub(crate) async fn join(&self, session: SessionId, store: &Arc<dyn Store>) -> Option<Session> {
        let Driven { members, commands, feed, mut standing, .. } = self.driven(session)?;
        let open = commands.upgrade().filter(|commands| !commands.is_closed()).zip(members.join());
        let Some((commands, membership)) = open else {
            let _ = standing.wait_for(|standing| matches!(standing, Standing::Closed(_))).await;
            return None;
        };
        let (store, membership) = (Arc::clone(store), Arc::new(membership));
        Some(Session { id: session, store, commands, feed, standing, membership })
    }

    /// A handle to a session that is driven here under this lease. It does not keep it open.
    pub(crate) fn visit(&self, session: SessionId, epoch: u64, store: &Arc<dyn Store>) -> Option<Session> {
        let driven = self.driven(session).filter(|driven| driven.epoch == epoch)?;
        let (commands, membership) = (driven.commands.upgrade()?, Arc::new(driven.members.visit()));
        let Driven { feed, standing, .. } = driven;
        Some(Session { id: session, store: Arc::clone(store), commands, feed, standing, membership })
    }

    /// The lease under which a session is driven here.
    pub(crate) fn epoch(&self, session: SessionId) -> Option<u64> {
        Some(self.driven(session)?.epoch)
    }

    /// Has `poll` run while there are live sessions, one for all. It must end when [`Self::next_look`] says so.
    pub(crate) fn start_poller<P: Future<Output = ()> + Send + 'static>(&self, poll: impl FnOnce(Self) -> P) {
        let mut table = locked(&self.0.table);
        if table.poller.as_ref().is_none_or(AbortHandle::is_finished) {
            table.poller = Some(tokio::spawn(poll(self.clone())).abort_handle());
        }
    }

    /// Waits for so long, or until no session is live. Says whether any is; if not, the poller must end.
    pub(crate) async fn next_look(&self, wait: Duration) -> Look {
        // Asked for before the look: it is woken by what happens after this.
        let emptied = self.0.emptied.notified();
        if !locked(&self.0.table).driven.is_empty() {
            let _ = tokio::time::timeout(wait, emptied).await;
        }
        let mut table = locked(&self.0.table);
        if table.driven.is_empty() {
            table.poller = None;
            return Look::NoMore;
        }
        Look::Again
    }

    /// The feed of a session that has a driver here.
    pub(crate) fn feed(&self, session: SessionId) -> Option<Feed> {
        Some(self.driven(session)?.feed)
    }

    /// Waits until a session is opened here after this call.
    pub(crate) fn began(&self) -> impl Future<Output = ()> {
        self.0.began.notified()
    }

    pub(crate) fn register(&self, session: &Session, epoch: u64) -> Registration {
        let driven = Driven {
            epoch,
            members: session.membership.members().clone(),
            commands: session.commands.downgrade(),
            feed: session.feed.clone(),
            standing: session.standing.clone(),
        };
        locked(&self.0.table).driven.insert(session.id, driven);
        self.0.began.notify_waiters();
        Registration { live: self.clone(), session: session.id }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<SessionId> {
        locked(&self.0.table).driven.keys().copied().collect()
    }

    fn driven(&self, session: SessionId) -> Option<Driven> {
        locked(&self.0.table).driven.get(&session).cloned()
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

impl Drop for Turn {
    fn drop(&mut self) {
        let mut opening = locked(&self.live.0.opening);
        // One is the map's, one this turn's own; whoever waits has another.
        if opening.get(&self.session).is_some_and(|lock| Arc::strong_count(lock) <= 2) {
            opening.remove(&self.session);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
