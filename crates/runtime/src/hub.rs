//! The session hub: every door goes through it.
//!
//! The protocol: a session has at most one live driver in all processes that share a store. `open` gives a handle to it:
//! the one that is there in this process, or a new one once the session is claimed. A session is followed from any
//! record on, whoever drives it. A driver lives as long as somebody has a handle to its session.

use std::borrow::Cow;
use std::sync::Arc;

use uuid::Uuid;
use windlass_machine::{Fact, OpenApprovals};
use windlass_store::{ForkError, Store, StoreError};
use windlass_tools::{Offer, Selection};
use windlass_vocab::{At, Control, RunId, SessionId};

use crate::control::{perform, poll_commands};
use crate::feed::Interest;
use crate::follow::Follow;
use crate::fork::fork;
use crate::live::LiveSessions;
use crate::opening::{Entered, OpenError, Opener, Opening};
use crate::outside::{Agent, Outside};
use crate::send_control::{Delivered, send_control};
use crate::session::{FirstWords, Sent, Session, Taken};
use crate::subscription::Subscription;

/// The live sessions of this process, what they share, and the way to open and follow them.
#[derive(Clone, Debug)]
pub struct Hub {
    outside: Arc<Outside>,
    live: LiveSessions,
}

impl Hub {
    /// A hub without live sessions.
    #[must_use]
    pub fn new(outside: Outside) -> Self {
        Self { outside: Arc::new(outside), live: LiveSessions::default() }
    }

    /// Where its sessions are stored.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.outside.store
    }

    /// The text as it would be recorded: known secrets are replaced.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.outside.secrets.scrub(text)
    }

    /// Whether the text has a known secret in it.
    #[must_use]
    pub fn has_secret(&self, text: &str) -> bool {
        self.outside.secrets.is_in(text.as_bytes())
    }

    /// The time its sessions go by.
    #[must_use]
    pub fn now(&self) -> At {
        self.outside.clock.now()
    }

    /// What a run with this selection of tools may call, as things are now.
    #[must_use]
    pub fn offer(&self, selection: &Selection) -> Offer {
        self.outside.registry.offer(selection)
    }

    #[cfg(test)]
    pub(crate) fn outside(&self) -> &Arc<Outside> {
        &self.outside
    }

    /// Opens a session, or joins it where it is live here; makes it if there is none with that key. A run that was left
    /// unfinished goes on at once. Who joins takes part in what is going on: `agent` is what a session is opened with.
    pub async fn open(&self, opening: Opening, agent: Agent) -> Result<Session, OpenError> {
        Ok(self.enter(&opening, &agent, None, None).await?.session)
    }

    /// The same, with every event from the moment on at which it was opened or joined.
    pub async fn open_followed(&self, opening: Opening, agent: Agent) -> Result<(Session, Subscription), OpenError> {
        Ok(self.enter(&opening, &agent, Some(Interest::Everything), None).await?.followed(Interest::Everything))
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
        let opened = self.enter(&opening, &agent, Some(interest), Some(&words)).await?;
        let sent = opened.sent;
        let (session, events) = opened.followed(interest);
        let sent = match sent {
            Some(sent) => sent,
            None => session.send(words.message_id, words.text).await?,
        };
        Ok((session, events, sent))
    }

    /// Opens or joins the session with this id, with every event from that moment on.
    pub async fn open_existing(
        &self,
        session: SessionId,
        agent: Agent,
        approvals: OpenApprovals,
    ) -> Result<(Session, Subscription), OpenError> {
        let _turn = self.live.turn(session).await;
        if let Some(session) = self.live.join(session, &self.outside.store).await {
            let events = session.events();
            return Ok((session, events));
        }
        let opener = Opener { approvals, ..self.opener(&agent, Some(Interest::Everything)) };
        let entered = opener.take_over(session).await?;
        Ok(self.started(entered).followed(Interest::Everything))
    }

    /// Opens a session for another try at its last run, before anything that waits; `None` when that did not end badly.
    pub async fn open_retrying(
        &self,
        session: SessionId,
        agent: Agent,
    ) -> Result<Option<(Session, Subscription, RunId)>, OpenError> {
        let _turn = self.live.turn(session).await;
        if let Some(session) = self.live.join(session, &self.outside.store).await {
            let events = session.events();
            return Ok(session.retry().await?.map(|run| (session, events, run)));
        }
        let mut entered = self.opener(&agent, Some(Interest::Everything)).take_over(session).await?;
        let driver = &mut entered.driver;
        let retried = driver.step(Fact::Retried(Box::new(driver.terms()))).await?;
        let Some(run) = driver.open_run().filter(|_| retried == Taken::Yes) else { return Ok(None) };
        let (session, events) = self.started(entered).followed(Interest::Everything);
        Ok(Some((session, events, run)))
    }

    /// Follows a session from the record after `after_seq` on: what is stored, then what happens. It need not be live,
    /// and may be driven by another process; of that one only records are seen.
    #[must_use]
    pub fn follow(&self, session: SessionId, after_seq: u64) -> Follow {
        let Outside { store, clock, .. } = self.outside.as_ref();
        Follow::new(Arc::clone(store), Arc::clone(clock), self.live.clone(), session, after_seq)
    }

    /// Forks `origin` at the end of the batch that holds the record `at`, or at its end, as a session
    /// with this key. The origin may be live.
    pub async fn fork(&self, origin: SessionId, at: Option<u64>, key: &str) -> Result<SessionId, ForkError> {
        fork(self.outside.store.as_ref(), origin, at, key, self.outside.clock.now()).await
    }

    /// Asks something of a session, whoever drives it: this process, or another that shares the store.
    pub async fn control(&self, session: SessionId, control: Control) -> Result<Delivered, StoreError> {
        let Outside { store, secrets, .. } = self.outside.as_ref();
        if let Some(epoch) = self.live.epoch(session)
            && let Some(session) = self.live.visit(session, epoch, store)
            && let Ok(outcome) = perform(&session, control.clone()).await?
        {
            return Ok(Delivered::Done(outcome));
        }
        send_control(store.as_ref(), secrets, session, control).await
    }

    /// Closes every live session, whoever has a handle. Open runs stay open and go on when they are opened again.
    pub async fn drain(&self) {
        for session in self.live.all() {
            if let Some(session) = self.live.join(session, &self.outside.store).await {
                session.end_driver().await;
            }
        }
    }

    /// Opens or joins the session with this key, or makes it.
    async fn enter(
        &self,
        opening: &Opening,
        agent: &Agent,
        interest: Option<Interest>,
        words: Option<&FirstWords>,
    ) -> Result<Opened, OpenError> {
        let store = &self.outside.store;
        let session = match store.find(&opening.owner, &opening.key).await? {
            Some(session) => session,
            None => {
                let session = SessionId(Uuid::now_v7());
                let _turn = self.live.turn(session).await;
                match self.opener(agent, interest).create(session, opening, words).await {
                    // Somebody was faster; it is theirs to have created and ours to join or claim.
                    Err(OpenError::Store(StoreError::KeyTaken { .. })) => {
                        store.find(&opening.owner, &opening.key).await?.ok_or(StoreError::Missing)?
                    }
                    created => return Ok(self.started(created?)),
                }
            }
        };
        let _turn = self.live.turn(session).await;
        if let Some(session) = self.live.join(session, store).await {
            return Ok(Opened { session, events: None, sent: None });
        }
        let mut entered = self.opener(agent, interest).take_over(session).await?;
        entered.driver.errand = words.map(|words| words.message_id.clone());
        Ok(self.started(entered))
    }

    fn opener<'a>(&'a self, agent: &'a Agent, interest: Option<Interest>) -> Opener<'a> {
        Opener { outside: &self.outside, agent, approvals: OpenApprovals::JudgedAgain, interest }
    }

    fn started(&self, entered: Entered) -> Opened {
        let (session, events, sent) = entered.start(&self.live);
        let outside = Arc::downgrade(&self.outside);
        self.live.start_poller(|live| poll_commands(outside, live));
        Opened { session, events, sent }
    }
}

/// A session that was opened or joined.
struct Opened {
    session: Session,
    events: Option<Subscription>,
    sent: Option<Sent>,
}

impl Opened {
    fn followed(self, interest: Interest) -> (Session, Subscription) {
        let events = self.events.unwrap_or_else(|| self.session.events_from_now(interest));
        (self.session, events)
    }
}
