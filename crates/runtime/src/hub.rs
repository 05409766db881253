//! The session hub: every frontend uses it.
//!
//! The protocol: a session has at most one live driver in all processes that share a store. `open` returns a handle to
//! it: to the existing driver in this process, or to a new one once the session is claimed. A session can be followed
//! from any record on, whichever process drives it. A driver lives as long as somebody has a handle to its session.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;
use windlass_machine::{Fact, OpenApprovals};
use windlass_store::{ForkError, Store, StoreError};
use windlass_tools::{Offer, Selection};
use windlass_vocab::{CallId, Control, RunId, SessionEdit, SessionId, Timestamp};

use crate::control::poll_commands;
use crate::feed::Interest;
use crate::follow::Follow;
use crate::fork::fork;
use crate::live::LiveSessions;
use crate::opening::{OpenError, ReadySession, SessionChoice, SessionOpener};
use crate::send_control::ControlDelivery;
use crate::services::{AgentSettings, Services};
use crate::session::{Acceptance, FirstMessage, SendOutcome, Session};
use crate::subscription::Subscription;

/// The live sessions of this process, the services they share, and the methods to open and follow them.
#[derive(Clone, Debug)]
pub struct Hub {
    services: Arc<Services>,
    live: LiveSessions,
}

impl Hub {
    /// Returns a hub without live sessions.
    #[must_use]
    pub fn new(services: Services) -> Self {
        Self::sharing(services, LiveSessions::default())
    }

    /// Returns a hub that joins these sessions where they are live, whichever hub opened them. All hubs that share them
    /// must have the same store.
    #[must_use]
    pub fn sharing(services: Services, live: LiveSessions) -> Self {
        Self { services: Arc::new(services), live }
    }

    /// Returns the hub that holds these sessions.
    pub(crate) fn of(services: &Arc<Services>, live: &LiveSessions) -> Self {
        Self { services: Arc::clone(services), live: live.clone() }
    }

    /// Waits for this long, by the sessions' clock.
    pub(crate) async fn wait(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.services.clock.until(self.now().plus_ms(ms)).await;
    }

    /// Returns the store of its sessions.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.services.store
    }

    /// Returns the text as it would be recorded: with known secrets replaced.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.services.secrets.scrub(text)
    }

    /// Whether the text contains a known secret.
    #[must_use]
    pub fn has_secret(&self, text: &str) -> bool {
        self.services.secrets.is_in(text.as_bytes())
    }

    /// Returns the current time of its sessions' clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.services.clock.now()
    }

    /// Returns the tools that a run with this selection may call now.
    #[must_use]
    pub fn offer(&self, selection: &Selection) -> Offer {
        self.services.registry.offer(selection)
    }

    #[cfg(test)]
    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.services
    }

    /// Opens a session, or joins it where it is live here; creates it if there is none with that key. An unfinished run
    /// continues at once. When joining, `agent` is ignored: the settings of the first opener apply.
    pub async fn open(&self, opening: SessionChoice, agent: AgentSettings) -> Result<Session, OpenError> {
        Ok(self.enter(&opening, &agent, None, None).await?.session)
    }

    /// Like [`Self::open`], also returning every event from the moment of opening or joining on.
    pub async fn open_followed(
        &self,
        opening: SessionChoice,
        agent: AgentSettings,
    ) -> Result<(Session, Subscription), OpenError> {
        Ok(self.enter(&opening, &agent, Some(Interest::Everything), None).await?.followed(Interest::Everything))
    }

    /// Opens a session to send one message. A new session is stored together with its first message, in one
    /// transaction, so that neither waits for the other's commit. Once that message's run has ended, waiting messages
    /// stay in the inbox, unless another message is sent.
    pub async fn open_saying(
        &self,
        opening: SessionChoice,
        agent: AgentSettings,
        words: FirstMessage,
        interest: Interest,
    ) -> Result<(Session, Subscription, SendOutcome), OpenError> {
        let opened = self.enter(&opening, &agent, Some(interest), Some(&words)).await?;
        let sent = opened.sent;
        let (session, events) = opened.followed(interest);
        let sent = match sent {
            Some(sent) => sent,
            None => session.send(words.message_id, words.message).await?,
        };
        Ok((session, events, sent))
    }

    /// Opens or joins the session with this id, with every event from that moment on.
    pub async fn open_existing(
        &self,
        session: SessionId,
        agent: AgentSettings,
        approvals: OpenApprovals,
    ) -> Result<(Session, Subscription), OpenError> {
        let _turn = self.live.turn(session).await;
        if let Some(session) = self.live.join(session, &self.services.store).await {
            let events = session.events();
            return Ok((session, events));
        }
        let opener = SessionOpener { approvals, ..self.opener(&agent, Some(Interest::Everything)) };
        let entered = Box::pin(opener.take_over(session)).await?;
        Ok(self.started(entered).followed(Interest::Everything))
    }

    /// Opens the child session of a step, or creates it with its only message.
    pub(crate) async fn open_child(
        &self,
        opening: &SessionChoice,
        agent: &AgentSettings,
        words: &FirstMessage,
        of: ChildOf,
    ) -> Result<Session, OpenError> {
        let ChildOf { parent, approvals } = of;
        let opener = SessionOpener { approvals, parent: Some(parent), ..self.opener(agent, None) };
        Ok(Box::pin(self.enter_with(opener, opening, Some(words))).await?.session)
    }

    /// Opens a session to retry its last run, before any waiting message; `None` when that run did not fail.
    pub async fn open_retrying(
        &self,
        session: SessionId,
        agent: AgentSettings,
    ) -> Result<Option<(Session, Subscription, RunId)>, OpenError> {
        let _turn = self.live.turn(session).await;
        if let Some(session) = self.live.join(session, &self.services.store).await {
            let events = session.events();
            return Ok(session.retry().await?.map(|run| (session, events, run)));
        }
        let mut entered = Box::pin(self.opener(&agent, Some(Interest::Everything)).take_over(session)).await?;
        let driver = &mut entered.driver;
        let run_settings = Box::new(driver.run_settings().await?);
        let retried = driver.step(Fact::Retried(run_settings)).await?;
        let Some(run) = driver.open_run().filter(|_| retried == Acceptance::Yes) else { return Ok(None) };
        let (session, events) = self.started(entered).followed(Interest::Everything);
        Ok(Some((session, events, run)))
    }

    /// Follows a session from the record after `after_seq` on: first stored records, then live events. The session need
    /// not be live, and another process may drive it; then only records are returned.
    #[must_use]
    pub fn follow(&self, session: SessionId, after_seq: u64) -> Follow {
        let Services { store, clock, .. } = self.services.as_ref();
        Follow::among(&self.live, Arc::clone(store), Arc::clone(clock), session, after_seq)
    }

    /// Forks `origin` at the end of the batch that holds the record `at`, or at its end, as a session with this key.
    /// The origin may be live.
    pub async fn fork(&self, origin: SessionId, at: Option<u64>, key: &str) -> Result<SessionId, ForkError> {
        fork(self.services.store.as_ref(), origin, at, key, self.services.clock.now()).await
    }

    /// Sends a command to a session, whether this process drives it or another that shares the store.
    pub async fn control(&self, session: SessionId, control: Control) -> Result<ControlDelivery, StoreError> {
        let Services { store, secrets, .. } = self.services.as_ref();
        self.live.control(store, secrets, session, control).await
    }

    /// Changes something about a session as a whole, whether this process drives it, another one, or none. A session
    /// that is as the edit makes it is left alone.
    pub async fn edit(&self, session: SessionId, edit: SessionEdit) -> Result<ControlDelivery, OpenError> {
        let Services { store, secrets, clock, .. } = self.services.as_ref();
        self.live.edit(store, secrets, clock.as_ref(), session, edit).await
    }

    /// Closes every live session at once, even if somebody has a handle. Open runs continue when opened again.
    pub async fn close_all(&self) {
        self.live.close_all(&self.services.store).await;
    }

    /// Has every live session finish what it has under way, and closes it; see [`LiveSessions::drain`].
    pub async fn drain(&self, out_of_time: impl Future<Output = ()>) {
        self.live.drain(&self.services.store, out_of_time).await;
    }

    /// Opens or joins the session with this key, or creates it.
    async fn enter(
        &self,
        opening: &SessionChoice,
        agent: &AgentSettings,
        interest: Option<Interest>,
        words: Option<&FirstMessage>,
    ) -> Result<OpenedSession, OpenError> {
        // On the heap: opening needs much room, which a task that opens a session would keep until it ends.
        Box::pin(self.enter_with(self.opener(agent, interest), opening, words)).await
    }

    async fn enter_with(
        &self,
        opener: SessionOpener<'_>,
        opening: &SessionChoice,
        words: Option<&FirstMessage>,
    ) -> Result<OpenedSession, OpenError> {
        let store = &self.services.store;
        let session = match store.find(&opening.owner, &opening.key).await? {
            Some(session) => session,
            None => {
                let session = SessionId(Uuid::now_v7());
                let _turn = self.live.turn(session).await;
                match opener.create(session, opening, words).await {
                    // Somebody else created it first: join or claim that session.
                    Err(OpenError::Store(StoreError::KeyTaken { .. })) => {
                        store.find(&opening.owner, &opening.key).await?.ok_or(StoreError::Missing)?
                    }
                    created => return Ok(self.started(created?)),
                }
            }
        };
        let _turn = self.live.turn(session).await;
        if let Some(session) = self.live.join(session, store).await {
            return Ok(OpenedSession { session, events: None, sent: None });
        }
        let mut entered = opener.take_over(session).await?;
        entered.driver.only_message = words.map(|words| words.message_id.clone());
        Ok(self.started(entered))
    }

    fn opener<'a>(&'a self, agent: &'a AgentSettings, interest: Option<Interest>) -> SessionOpener<'a> {
        let approvals = OpenApprovals::CheckedAgain;
        SessionOpener { services: &self.services, agent, approvals, interest, parent: None, live: &self.live }
    }

    fn started(&self, entered: ReadySession) -> OpenedSession {
        let (session, events, sent) = entered.start(&self.live);
        let store = Arc::downgrade(&self.services.store);
        self.live.start_poller(|live| poll_commands(store, live));
        OpenedSession { session, events, sent }
    }
}

/// Whose child a session is, and what happens to its open approvals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChildOf {
    /// The session that started it, and its position there.
    pub(crate) parent: (SessionId, CallId),
    pub(crate) approvals: OpenApprovals,
}

/// A session that was opened or joined.
struct OpenedSession {
    session: Session,
    events: Option<Subscription>,
    sent: Option<SendOutcome>,
}

impl OpenedSession {
    fn followed(self, interest: Interest) -> (Session, Subscription) {
        let events = self.events.unwrap_or_else(|| self.session.events_from_now(interest));
        (self.session, events)
    }
}
