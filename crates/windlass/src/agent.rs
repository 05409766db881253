//! An agent: a runtime and the terms its runs are begun under.

use std::marker::PhantomData;
use std::sync::Arc;

use uuid::Uuid;
use windlass_runtime::{
    FirstWords, Hub, Interest, OpenApprovals, OpenError, Opening, Session, SessionClosed, Subscription,
};
use windlass_store::{Backwards, Store, StoreError};
use windlass_vocab::{Event, MessageId, QuestionAsked, Record, RunEnded, RunId, SessionId};

use crate::builder::Builder;
use crate::ended::{Awaited, end_awaited};
use crate::output::{Output, OutputError, output_of};
use crate::pursuit::{Next, Pursuit, recorded_end};
use crate::running::Running;

/// A run that gave no end to report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// The session can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The session was closed, or its store failed, before the run ended. It goes on when opened again.
    #[error(transparent)]
    Closed(#[from] SessionClosed),
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Only a person can move it on.
    #[error("the run waits for a person")]
    Waiting(Vec<QuestionAsked>),
    /// It never began: a stop drops the messages that wait.
    #[error("the message was dropped before a run took it up; say it again")]
    Dropped,
}

/// An agent, ready to work. Its tools are given `Deps`, and its runs end with an `Output`.
pub struct Agent<Deps = (), Output = String> {
    pub(crate) hub: Hub,
    pub(crate) terms: windlass_runtime::Agent,
    pub(crate) owner: String,
    pub(crate) workspace: Option<String>,
    pub(crate) deps: Arc<Deps>,
    pub(crate) output: PhantomData<fn() -> Output>,
}

impl<D, O> Clone for Agent<D, O> {
    fn clone(&self) -> Self {
        Self {
            hub: self.hub.clone(),
            terms: self.terms.clone(),
            owner: self.owner.clone(),
            workspace: self.workspace.clone(),
            deps: Arc::clone(&self.deps),
            output: PhantomData,
        }
    }
}

impl<D, O> std::fmt::Debug for Agent<D, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("terms", &self.terms).field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Agent {
    /// Begins one.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl<D, O> Agent<D, O> {
    /// The session hub underneath.
    #[must_use]
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// What its tools work with.
    #[must_use]
    pub fn deps(&self) -> &Arc<D> {
        &self.deps
    }

    fn store(&self) -> &Arc<dyn Store> {
        &self.hub.outside().store
    }

    /// Opens the session with this key, creating it if need be. A run left unfinished goes on at once.
    pub async fn session(&self, key: &str) -> Result<Session, OpenError> {
        self.hub.open(self.opening(key), self.terms.clone()).await
    }

    /// The same, with every event from the very first.
    pub async fn session_followed(&self, key: &str) -> Result<(Session, Subscription), OpenError> {
        self.hub.open_followed(self.opening(key), self.terms.clone()).await
    }

    /// Opens a session that exists, with every event from the very first. An open run is taken up, and what waits for
    /// a person's approval in it is judged again or kept for an answer.
    pub async fn existing(
        &self,
        session: SessionId,
        approvals: OpenApprovals,
    ) -> Result<(Session, Subscription), OpenError> {
        self.hub.open_existing(session, self.terms.clone(), approvals).await
    }

    /// Opens a session for another try at its last run; `None` when that did not end badly.
    pub async fn retrying(&self, session: SessionId) -> Result<Option<(Session, Subscription, RunId)>, OpenError> {
        self.hub.open_retrying(session, self.terms.clone()).await
    }

    fn opening(&self, key: &str) -> Opening {
        Opening { owner: self.owner.clone(), key: key.to_owned(), workspace: self.workspace.clone() }
    }

    /// Says something in a session and waits for the end of the run. What waits behind it is left in the inbox.
    pub async fn run(&self, key: &str, prompt: &str) -> Result<RunEnded, FollowError> {
        self.say(key, MessageId(Uuid::now_v7().to_string()), prompt).await
    }

    /// The same with a message id: repeating the call never repeats the message. It goes on with the
    /// unfinished run, or gives the finished one's end again, whoever has the session.
    pub async fn run_once(&self, key: &str, message_id: MessageId, prompt: &str) -> Result<RunEnded, FollowError> {
        let store = self.store();
        if let Some(session) = store.find(&self.owner, key).await?
            && let Some((_, ended)) =
                end_awaited(store.as_ref(), session, &mut Awaited::Message(message_id.clone())).await?
        {
            return Ok(ended);
        }
        self.say(key, message_id, prompt).await
    }

    async fn say(&self, key: &str, message_id: MessageId, prompt: &str) -> Result<RunEnded, FollowError> {
        let (session, mut events, awaited) = self.session_saying(key, message_id, prompt, Interest::Runs).await?;
        let ended = self.follow(&session, &mut events, awaited, |_| {}).await;
        session.close().await;
        ended
    }

    /// Opens a session and says something in it; gives what of it is of interest, and what is then awaited. Once that
    /// is over, what waits behind it is left in the inbox, unless something else is said.
    pub async fn session_saying(
        &self,
        key: &str,
        message_id: MessageId,
        prompt: impl Into<String>,
        interest: Interest,
    ) -> Result<(Session, Subscription, Awaited), OpenError> {
        let words = FirstWords { message_id: message_id.clone(), text: prompt.into() };
        let opening = self.hub.open_saying(self.opening(key), self.terms.clone(), words, interest);
        let (session, events, sent) = opening.await?;
        Ok((session, events, Awaited::after(sent, message_id)))
    }

    /// Says something in a session and gives the run as it goes: its events, a way to stop it, its end.
    pub async fn start(&self, key: &str, prompt: &str) -> Result<Running<O>, FollowError> {
        let id = MessageId(Uuid::now_v7().to_string());
        let (session, events, awaited) = self.session_saying(key, id, prompt, Interest::Everything).await?;
        Ok(Running::new(session, events, Pursuit::new(Arc::clone(self.store()), awaited)))
    }

    /// Takes up the run that was left unfinished in a session, by a crash or by whoever dropped it;
    /// `None` when there is none.
    pub async fn resume(&self, key: &str) -> Result<Option<Running<O>>, FollowError> {
        let Some(id) = self.store().find(&self.owner, key).await? else { return Ok(None) };
        // Whichever of the two stands nearest the end says whether a run is open.
        let newest = Backwards::new(self.store().as_ref(), id).find_map(|envelope| match envelope.record {
            Record::RunStarted(started) => Some(Some(started.run)),
            Record::RunEnded(_) => Some(None),
            _ => None,
        });
        let Some(run) = newest.await?.flatten() else { return Ok(None) };
        let (session, events) = self.existing(id, OpenApprovals::JudgedAgain).await?;
        let pursuit = Pursuit::new(Arc::clone(self.store()), Awaited::Run(run));
        Ok(Some(Running::new(session, events, pursuit)))
    }

    /// Waits for the end of a run, showing every event on the way. Gives the end at once if the run
    /// is over already, and an error when only a person can move it on.
    pub async fn follow(
        &self,
        session: &Session,
        events: &mut Subscription,
        awaited: Awaited,
        mut show: impl FnMut(&Event),
    ) -> Result<RunEnded, FollowError> {
        let mut pursuit = Pursuit::new(Arc::clone(self.store()), awaited);
        loop {
            match pursuit.next(session, events).await {
                Next::Event(event) => show(&event),
                Next::End(ended) => return ended,
            }
        }
    }

    /// How a run ended, if it did.
    pub async fn ended(&self, session: SessionId, run: RunId) -> Result<Option<RunEnded>, StoreError> {
        recorded_end(self.store().as_ref(), session, &mut Awaited::Run(run)).await
    }
}

impl<D, O: Output> Agent<D, O> {
    /// Says something in a session, waits for the end of the run and gives its output.
    pub async fn run_typed(&self, key: &str, prompt: &str) -> Result<O, OutputError> {
        output_of(&self.run(key, prompt).await?)
    }

    /// The output of a run of this agent that ended.
    pub fn output(&self, ended: &RunEnded) -> Result<O, OutputError> {
        output_of(ended)
    }
}
