//! An agent: a session hub and the settings its runs start with.

use std::marker::PhantomData;
use std::sync::Arc;

use uuid::Uuid;
use windlass_runtime::{
    FirstMessage, Hub, Interest, OpenApprovals, OpenError, SentMessage, Session, SessionChoice, Subscription,
};
use windlass_store::Store;
use windlass_vocab::{Event, MessageId, RunEnded, RunId, SessionId};

use crate::asking::QuestionHandler;
use crate::build_error::BuildError;
use crate::builder::Builder;
use crate::ended::AwaitedEnd;
use crate::follow_error::FollowError;
use crate::message::Prompt;
use crate::output::{Output, output_of};
use crate::run_error::{RunError, RunErrorReason};
use crate::run_handle::RunHandle;
use crate::run_wait::{AwaitStep, RunWait};
use crate::session::AgentSession;

/// An agent, ready to run. Its tools receive `Deps`, and its runs end with an `Output`. Cheap to clone.
pub struct Agent<Deps = (), Output = String> {
    pub(crate) hub: Hub,
    pub(crate) settings: windlass_runtime::AgentSettings,
    pub(crate) owner: String,
    pub(crate) workspace: Option<String>,
    pub(crate) deps: Arc<Deps>,
    pub(crate) on_question: Option<QuestionHandler>,
    pub(crate) output: PhantomData<fn() -> Output>,
}

impl<D, O> Clone for Agent<D, O> {
    fn clone(&self) -> Self {
        Self {
            hub: self.hub.clone(),
            settings: self.settings.clone(),
            owner: self.owner.clone(),
            workspace: self.workspace.clone(),
            deps: Arc::clone(&self.deps),
            on_question: self.on_question.clone(),
            output: PhantomData,
        }
    }
}

impl<D, O> std::fmt::Debug for Agent<D, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("settings", &self.settings).field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Agent {
    /// Returns an empty builder. Reads nothing from the environment.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Builds the agent that the environment describes: see [`Builder::from_env`].
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// println!("{}", windlass::Agent::from_env()?.run("Say hello to a sailor.").await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_env() -> Result<Self, BuildError> {
        Builder::from_env()?.build()
    }
}

impl<D, O: Output> Agent<D, O> {
    /// Sends a message in a new session, waits for the run's end and returns its answer; any other end is an error.
    pub async fn run(&self, message: impl Into<Prompt>) -> Result<O, RunError> {
        self.new_session().run(message).await
    }

    /// Returns the answer of an ended run of this agent, or why it has none.
    pub fn answer(&self, ended: &RunEnded) -> Result<O, RunErrorReason> {
        output_of(ended)
    }
}

impl<D, O> Agent<D, O> {
    /// Like `run`, but returns the whole end, however the run ended: reason, answer, failure, usage, output. An error
    /// means that the run has not ended.
    pub async fn run_full(&self, message: impl Into<Prompt>) -> Result<RunEnded, RunError> {
        self.new_session().run_full(message).await
    }

    /// Sends a message in a new session and returns the running run: its events, a method to stop it, its end.
    pub async fn start(&self, message: impl Into<Prompt>) -> Result<RunHandle<O>, RunError> {
        self.new_session().start(message).await
    }

    /// Returns the session with this key; it continues where it was.
    pub fn session(&self, key: impl Into<String>) -> AgentSession<'_, D, O> {
        AgentSession::new(self, key.into())
    }

    fn new_session(&self) -> AgentSession<'_, D, O> {
        self.session(Uuid::now_v7().to_string())
    }

    /// Returns the state that the agent's tools share.
    #[must_use]
    pub fn deps(&self) -> &Arc<D> {
        &self.deps
    }
}

/// For doors: programs that display sessions to people and take their answers, as a command line or a server does.
impl<D, O> Agent<D, O> {
    /// Returns the session hub underneath.
    #[must_use]
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.hub.store()
    }

    /// Opens the session with this key, creating it if need be. An unfinished run continues at once.
    pub async fn open(&self, key: &str) -> Result<Session, OpenError> {
        self.hub.open(self.opening(key), self.settings.clone()).await
    }

    /// Like `open`, with a subscription to every event from the very first.
    pub async fn open_followed(&self, key: &str) -> Result<(Session, Subscription), OpenError> {
        self.hub.open_followed(self.opening(key), self.settings.clone()).await
    }

    /// Opens an existing session, with a subscription to every event from the very first. Resumes an open run; its
    /// calls that wait for a person's approval are checked again or kept for an answer, as `approvals` says.
    pub async fn open_existing(
        &self,
        session: SessionId,
        approvals: OpenApprovals,
    ) -> Result<(Session, Subscription), OpenError> {
        self.hub.open_existing(session, self.settings.clone(), approvals).await
    }

    /// Opens a session to retry its last run; returns `None` when that run did not fail.
    pub async fn open_to_retry(&self, session: SessionId) -> Result<Option<(Session, Subscription, RunId)>, OpenError> {
        self.hub.open_retrying(session, self.settings.clone()).await
    }

    fn opening(&self, key: &str) -> SessionChoice {
        SessionChoice { owner: self.owner.clone(), key: key.to_owned(), workspace: self.workspace.clone() }
    }

    /// Opens a session and sends a message in it. Returns the events that `interest` selects, and the end to await.
    /// When the awaited run is over, messages queued behind it stay in the inbox, unless another message is sent.
    pub async fn open_and_send(
        &self,
        key: &str,
        message_id: MessageId,
        message: impl Into<SentMessage>,
        interest: Interest,
    ) -> Result<(Session, Subscription, AwaitedEnd), OpenError> {
        let words = FirstMessage { message_id: message_id.clone(), message: message.into() };
        let opening = self.hub.open_saying(self.opening(key), self.settings.clone(), words, interest);
        let (session, events, sent) = opening.await?;
        Ok((session, events, AwaitedEnd::after(sent, message_id)))
    }

    /// Waits for the end of a run, and calls `show` for every event. Returns the end at once if the run is over
    /// already, and an error when the run waits for a person, whatever handler the agent has.
    pub async fn follow(
        &self,
        session: &Session,
        events: &mut Subscription,
        awaited: AwaitedEnd,
        mut show: impl FnMut(&Event),
    ) -> Result<RunEnded, FollowError> {
        let mut run_wait = RunWait::new(Arc::clone(self.store()), awaited);
        loop {
            match run_wait.next(session, events).await {
                AwaitStep::Event(event) => show(&event),
                AwaitStep::End(ended) => return ended,
            }
        }
    }
}
