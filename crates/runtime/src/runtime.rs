//! Opening sessions: claim, fold, take the lease in the log, take up what was left, start the driver.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use uuid::Uuid;
use windlass_machine::{Fact, OpenApprovals, State, outstanding};
use windlass_store::{Head, Lease, StoreError, Writer};
use windlass_vocab::{At, LeaseTaken, Newer, RunId, SessionId, SessionOpened};

use crate::driver::Driver;
use crate::events::{Events, Interest, Subscription};
use crate::outside::{Agent, Outside};
use crate::session::{FirstWords, Sent, Session, SessionClosed, Standing, Taken};
use crate::underway::Underway;

/// Which session is meant.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Whose.
    pub owner: String,
    /// Its key.
    pub key: String,
    /// The folder its tools work in, for a session that is opened for the first time.
    pub workspace: Option<String>,
}

/// A session that can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It holds records of a newer version.
    #[error(
        "this session was written by a newer version of Windlass (record {seq} is a `{kind}`) and is read-only \
         here: go on with that version, or fork the session at record {before} and go on with the fork"
    )]
    Newer {
        /// The first record that is not known.
        seq: u64,
        /// Its kind.
        kind: String,
        /// The last record of the batch before.
        before: u64,
    },
    /// Commands of the last process are still running.
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

/// What sessions share, and the way to open them.
#[derive(Clone, Debug)]
pub struct Runtime {
    outside: Arc<Outside>,
}

impl Runtime {
    /// A runtime over this world.
    #[must_use]
    pub fn new(outside: Outside) -> Self {
        Self { outside: Arc::new(outside) }
    }

    /// The world.
    #[must_use]
    pub fn outside(&self) -> &Arc<Outside> {
        &self.outside
    }

    /// Opens a session, creating it if there is none with that key, and starts its driver. A run that
    /// was left unfinished goes on at once.
    pub async fn open(&self, opening: Opening, agent: Agent) -> Result<Session, OpenError> {
        Ok(self.open_into(&opening, &agent, Events::default(), None).await?.0)
    }

    /// The same, with every event from the very first.
    pub async fn open_followed(&self, opening: Opening, agent: Agent) -> Result<(Session, Subscription), OpenError> {
        let events = Events::default();
        let subscription = events.subscribe(Interest::Everything);
        Ok((self.open_into(&opening, &agent, events, None).await?.0, subscription))
    }

    /// Opens a session to say one thing in it. A session that is new is stored with its first message, both or
    /// neither, so that neither waits for the other's commit. Once that message's run is over, what waits behind it is
    /// left in the inbox, unless something else is said.
    pub async fn open_saying(
        &self,
        opening: Opening,
        agent: Agent,
        words: FirstWords,
        interest: Interest,
    ) -> Result<(Session, Subscription, Sent), OpenError> {
        let events = Events::default();
        let subscription = events.subscribe(interest);
        let (session, sent) = self.open_into(&opening, &agent, events, Some(&words)).await?;
        let sent = match sent {
            Some(sent) => sent,
            None => session.send(words.message_id, words.text).await?,
        };
        Ok((session, subscription, sent))
    }

    /// Opens the session with this id, with every event from the very first.
    pub async fn open_existing(
        &self,
        session: SessionId,
        agent: Agent,
        approvals: OpenApprovals,
    ) -> Result<(Session, Subscription), OpenError> {
        let events = Events::default();
        let subscription = events.subscribe(Interest::Everything);
        let (driver, handle) = self.take_over(session, agent, events, approvals).await?;
        Ok((started(driver, handle), subscription))
    }

    /// Opens a session for another try at its last run, before anything that waits; `None` when that did not end badly.
    pub async fn open_retrying(
        &self,
        session: SessionId,
        agent: Agent,
    ) -> Result<Option<(Session, Subscription, RunId)>, OpenError> {
        let events = Events::default();
        let subscription = events.subscribe(Interest::Everything);
        let (mut driver, handle) = self.take_over(session, agent, events, OpenApprovals::JudgedAgain).await?;
        let retried = driver.step(Fact::Retried(Box::new(driver.terms()))).await?;
        let run = driver.open_run().filter(|_| retried == Taken::Yes);
        Ok(run.map(|run| (started(driver, handle), subscription, run)))
    }

    /// Opens a session; also says what became of the first words, where it was made with them.
    async fn open_into(
        &self,
        opening: &Opening,
        agent: &Agent,
        events: Events,
        words: Option<&FirstWords>,
    ) -> Result<(Session, Option<Sent>), OpenError> {
        let known = match self.outside.store.find(&opening.owner, &opening.key).await? {
            Some(session) => session,
            None => match self.create(opening, agent.clone(), events.clone(), words).await {
                // Somebody was faster; it is theirs to have created and ours to try to claim.
                Err(OpenError::Store(StoreError::KeyTaken { .. })) => {
                    let session = self.outside.store.find(&opening.owner, &opening.key).await?;
                    session.ok_or(StoreError::Missing)?
                }
                created => return created,
            },
        };
        let (mut driver, handle) = self.take_over(known, agent.clone(), events, OpenApprovals::JudgedAgain).await?;
        driver.errand = words.map(|words| words.message_id.clone());
        Ok((started(driver, handle), None))
    }

    async fn create(
        &self,
        opening: &Opening,
        agent: Agent,
        events: Events,
        words: Option<&FirstWords>,
    ) -> Result<(Session, Option<Sent>), OpenError> {
        let session = SessionId(Uuid::now_v7());
        let lease = self.outside.store.claim(session).await?;
        let opened = SessionOpened {
            owner: opening.owner.clone(),
            key: opening.key.clone(),
            workspace: opening.workspace.clone(),
            parent: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            forked_from: Vec::new(),
        };
        let writer = Writer::new(session, Head::default(), nonce());
        let taken = taken(lease.epoch());
        let (mut driver, handle) = self.driver(State::new(session), writer, lease, agent, events);
        let sent = driver.begin(Fact::Opened(opened, taken), words).await?;
        driver.errand = words.map(|words| words.message_id.clone());
        Ok((started(driver, handle), sent))
    }

    /// The driver of a session that is there, with what was left unfinished taken up, but not yet started.
    async fn take_over(
        &self,
        session: SessionId,
        agent: Agent,
        events: Events,
        approvals: OpenApprovals,
    ) -> Result<(Driver, Session), OpenError> {
        let store = &self.outside.store;
        let lease = store.claim(session).await?;
        let head = lease.head();
        let state = {
            let records = store.read(session, 0).await?;
            if let Some(Newer { seq, kind, before }) = Newer::first(&records) {
                return Err(OpenError::Newer { seq, kind, before });
            }
            State::fold(session, records.iter().map(|envelope| &envelope.record))
        };
        let (attendance, deadline_ms) = (agent.attendance, agent.deadline_ms);
        let taken = taken(lease.epoch());
        let (mut driver, handle) = self.driver(state, Writer::new(session, head, nonce()), lease, agent, events);
        driver.step(Fact::LeaseTaken(taken)).await?;
        driver.waiting = store.waiting(session).await?.into();
        if driver.state.control.run.is_some() {
            self.outlive_survivors(session).await?;
            let now: At = self.outside.clock.now();
            let deadline = deadline_ms.map(|ms| now.plus_ms(ms));
            driver.step(Fact::Resumed { attendance, deadline, approvals }).await?;
        }
        Ok((driver, handle))
    }

    /// Nothing is run again while a command of the last process still runs (J4, T7).
    async fn outlive_survivors(&self, session: SessionId) -> Result<(), OpenError> {
        let Some(locks) = self.outside.guard_locks.clone() else { return Ok(()) };
        let wait = move || windlass_tools::guard::wait_for_survivors(&locks, session, PATIENCE);
        match tokio::task::spawn_blocking(wait).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(OpenError::Survivors { why: error.to_string() }),
            Err(error) => Err(OpenError::Survivors { why: error.to_string() }),
        }
    }

    /// The driver of a session, not yet started, and the handle to it.
    pub(crate) fn driver(
        &self,
        state: State,
        writer: Writer,
        lease: Lease,
        agent: Agent,
        events: Events,
    ) -> (Driver, Session) {
        let (commands, receiver) = mpsc::channel(16);
        let (standing, watcher) = watch::channel(Standing::Idle);
        let handle = Session { id: state.session, commands, events: events.clone(), standing: watcher };
        let driver = Driver {
            outside: Arc::clone(&self.outside),
            agent,
            owed: outstanding(&state),
            state,
            writer,
            lease,
            events,
            standing,
            commands: receiver,
            waiting: VecDeque::new(),
            errand: None,
            underway: Underway::default(),
        };
        (driver, handle)
    }
}

/// Starts the driver; gives its handle.
fn started(driver: Driver, handle: Session) -> Session {
    driver.announce();
    tokio::spawn(Box::new(driver).drive());
    handle
}

/// How long a guard may take to end what it started.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

pub(crate) fn taken(epoch: u64) -> LeaseTaken {
    LeaseTaken { epoch, holder: format!("pid {}", std::process::id()) }
}

/// Tells this writer's records from any other's.
pub(crate) fn nonce() -> u64 {
    Uuid::now_v7().as_u64_pair().1
}
