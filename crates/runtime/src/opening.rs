//! Opens a session: claims it, folds its journal, records the lease, resumes its run. Does not start the driver.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use uuid::Uuid;
use windlass_machine::{Fact, OpenApprovals, State, outstanding};
use windlass_store::{Head, Lease, StoreError, Writer};
use windlass_vocab::{CallId, LeaseTaken, NewerRecord, SessionId, SessionOpened, Timestamp};

use crate::closed::SessionClosed;
use crate::driver::Driver;
use crate::feed::{Feed, Interest};
use crate::live::LiveSessions;
use crate::membership::OpenCount;
use crate::running_effects::RunningEffects;
use crate::services::{AgentSettings, Services};
use crate::session::{DriverPhase, FirstMessage, SendOutcome, Session, SessionActivity};
use crate::spans::Spans;
use crate::subscription::Subscription;

/// Which session to open.
#[derive(Clone, Debug)]
pub struct SessionChoice {
    /// Its owner.
    pub owner: String,
    /// Its key.
    pub key: String,
    /// The folder its tools work in, for a new session.
    pub workspace: Option<String>,
}

/// Why a session can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store failed or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session holds records of a newer version.
    #[error(
        "this session was written by a newer version of Windlass (record {seq} is a `{kind}`) and is read-only \
         here: go on with that version, or fork the session at record {before} and go on with the fork"
    )]
    Newer {
        /// The first unknown record.
        seq: u64,
        /// Its kind.
        kind: String,
        /// The last record of the previous batch.
        before: u64,
    },
    /// Commands that the previous process started are still running.
    #[error("commands that the last process started are still being ended: {why}")]
    Survivors {
        /// What is known of them.
        why: String,
    },
}

impl From<SessionClosed> for OpenError {
    fn from(closed: SessionClosed) -> Self {
        match closed {
            SessionClosed::Store(error) => Self::Store(error),
            SessionClosed::Closed => Self::Store(StoreError::Closed),
        }
    }
}

/// What is needed to open a session.
#[derive(Clone, Copy)]
pub(crate) struct SessionOpener<'a> {
    pub(crate) services: &'a Arc<Services>,
    pub(crate) agent: &'a AgentSettings,
    /// What happens to calls that wait for approval, where a run is resumed.
    pub(crate) approvals: OpenApprovals,
    /// Which events the opener wants to receive from the first record on.
    pub(crate) interest: Option<Interest>,
    /// The session that starts a new one, and the position there.
    pub(crate) parent: Option<(SessionId, CallId)>,
    /// Where the session will be live.
    pub(crate) live: &'a LiveSessions,
}

/// An opened session whose driver has not started yet.
pub(crate) struct ReadySession {
    pub(crate) driver: Driver,
    pub(crate) session: Session,
    pub(crate) events: Option<Subscription>,
    /// The outcome of the message it was created with.
    pub(crate) sent: Option<SendOutcome>,
}

impl ReadySession {
    /// Starts the driver; from now on others can join it.
    pub(crate) fn start(self, live: &LiveSessions) -> (Session, Option<Subscription>, Option<SendOutcome>) {
        let Self { mut driver, session, events, sent } = self;
        driver.registration = Some(live.register(&session, driver.lease.epoch()));
        driver.announce();
        tokio::spawn(Box::new(driver).drive());
        (session, events, sent)
    }
}

impl SessionOpener<'_> {
    /// Creates a session, together with its first message if there is one.
    pub(crate) async fn create(
        self,
        session: SessionId,
        opening: &SessionChoice,
        words: Option<&FirstMessage>,
    ) -> Result<ReadySession, OpenError> {
        let lease = self.services.store.claim(session).await?;
        let opened = SessionOpened {
            owner: opening.owner.clone(),
            key: opening.key.clone(),
            workspace: opening.workspace.clone(),
            parent: self.parent,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            forked_from: Vec::new(),
        };
        let writer = Writer::new(session, Head::default(), nonce());
        let lease_taken = lease_taken(lease.epoch());
        let mut entered = self.entered(State::new(session), writer, lease);
        entered.sent = entered.driver.begin(Fact::Opened(opened, lease_taken), words).await?;
        entered.driver.only_message = words.map(|words| words.message_id.clone());
        Ok(entered)
    }

    /// Claims an existing session and resumes its unfinished work.
    pub(crate) async fn take_over(self, session: SessionId) -> Result<ReadySession, OpenError> {
        let store = &self.services.store;
        let lease = store.claim(session).await?;
        let head = lease.head();
        let state = {
            let records = store.read(session, 0).await?;
            if let Some(NewerRecord { seq, kind, before }) = NewerRecord::first(&records) {
                return Err(OpenError::Newer { seq, kind, before });
            }
            State::fold(session, records.iter().map(|envelope| &envelope.record))
        };
        let lease_taken = lease_taken(lease.epoch());
        let mut entered = self.entered(state, Writer::new(session, head, nonce()), lease);
        let driver = &mut entered.driver;
        driver.step(Fact::LeaseTaken(lease_taken)).await?;
        driver.waiting = store.waiting(session).await?.into();
        if driver.state.control.run.is_some() {
            self.outlive_survivors(session).await?;
            driver.restore_after_interrupted_scripts().await?;
            let now: Timestamp = self.services.clock.now();
            let deadline = self.agent.deadline_ms.map(|ms| now.plus_ms(ms));
            let (attendance, approvals) = (self.agent.attendance, self.approvals);
            driver.step(Fact::Resumed { attendance, deadline, approvals }).await?;
        }
        Ok(entered)
    }

    /// Without the `commands` feature no command can still be running.
    #[cfg(not(feature = "commands"))]
    #[expect(clippy::unused_async, reason = "the same as with commands")]
    async fn outlive_survivors(&self, _: SessionId) -> Result<(), OpenError> {
        Ok(())
    }

    /// Waits until no command of the previous process runs any more, so that nothing is run twice (J4, T7).
    #[cfg(feature = "commands")]
    async fn outlive_survivors(&self, session: SessionId) -> Result<(), OpenError> {
        let Some(locks) = self.services.guard_locks.clone() else { return Ok(()) };
        let wait = move || windlass_tools::guard::wait_for_survivors(&locks, session, PATIENCE);
        match tokio::task::spawn_blocking(wait).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(OpenError::Survivors { why: error.to_string() }),
            Err(error) => Err(OpenError::Survivors { why: error.to_string() }),
        }
    }

    /// Returns the driver of a session and a handle to it.
    pub(crate) fn entered(self, state: State, writer: Writer, lease: Lease) -> ReadySession {
        let (commands, receiver) = mpsc::channel(16);
        let (activity, watcher) = watch::channel(SessionActivity::Idle);
        let head = lease.head().seq;
        let feed = Feed::new(head);
        let store = Arc::clone(&self.services.store);
        let membership = Arc::new(OpenCount::first());
        let session = Session { id: state.session, store, commands, feed: feed.clone(), activity: watcher, membership };
        let events = self.interest.map(|interest| session.events_after(head, interest));
        let driver = Driver {
            services: Arc::clone(self.services),
            agent: self.agent.clone(),
            owed: outstanding(&state),
            spans: Spans::of(state.session),
            state,
            writer,
            lease,
            feed,
            activity,
            commands: receiver,
            waiting: VecDeque::new(),
            only_message: None,
            running_effects: RunningEffects::default(),
            phase: DriverPhase::Driving,
            observer: self.live.observer(),
            registration: None,
        };
        ReadySession { driver, session, events, sent: None }
    }
}

/// How long a guard process may take to end the commands it started.
#[cfg(feature = "commands")]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

pub(crate) fn lease_taken(epoch: u64) -> LeaseTaken {
    LeaseTaken { epoch, holder: format!("pid {}", std::process::id()) }
}

/// Returns a number that distinguishes this writer's records from any other's.
pub(crate) fn nonce() -> u64 {
    Uuid::now_v7().as_u64_pair().1
}
