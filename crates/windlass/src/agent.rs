//! An agent: a session hub and the terms its runs are begun under.

use std::marker::PhantomData;
use std::sync::Arc;

use uuid::Uuid;
use windlass_runtime::{FirstMessage, Hub, Interest, OpenApprovals, OpenError, Session, SessionChoice, Subscription};
use windlass_store::Store;
use windlass_vocab::{Event, MessageId, RunEnded, RunId, SessionId};

use crate::asking::QuestionHandler;
use crate::build_error::BuildError;
use crate::builder::Builder;
use crate::ended::AwaitedEnd;
use crate::follow_error::FollowError;
use crate::output::{Output, output_of};
use crate::run_error::{RunError, RunErrorReason};
use crate::run_handle::RunHandle;
use crate::run_wait::{AwaitStep, RunWait};
use crate::session::AgentSession;

/// An agent, ready to work. Its tools are given `Deps`, and its runs end with an `Output`. Cheap to clone.
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
        f.debug_struct("Agent").field("terms", &self.settings).field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Agent {
    /// Begins one. Nothing is read from the environment.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The agent that the environment describes: see [`Builder::from_env`].
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
    /// Says something in a session of its own, waits for the end of the run and gives its answer; whatever else came
    /// of it is an error.
    pub async fn run(&self, prompt: &str) -> Result<O, RunError> {
        self.new_session().run(prompt).await
    }

    /// The answer of a run of this agent that ended, or why it has none.
    pub fn answer(&self, ended: &RunEnded) -> Result<O, RunErrorReason> {
        output_of(ended)
    }
}

impl<D, O> Agent<D, O> {
    /// The same, but gives the whole end, however the run ended: reason, answer, failure, usage, output. An error
    /// means that there is no end yet.
    pub async fn run_full(&self, prompt: &str) -> Result<RunEnded, RunError> {
        self.new_session().run_full(prompt).await
    }

    /// Says something in a session of its own and gives the run as it goes: its events, a way to stop it, its end.
    pub async fn start(&self, prompt: &str) -> Result<RunHandle<O>, RunError> {
        self.new_session().start(prompt).await
    }

    /// The session with this key, which goes on where it was.
    pub fn session(&self, key: impl Into<String>) -> AgentSession<'_, D, O> {
        AgentSession::new(self, key.into())
    }

    fn new_session(&self) -> AgentSession<'_, D, O> {
        self.session(Uuid::now_v7().to_string())
    }

    /// What its tools work with.
    #[must_use]
    pub fn deps(&self) -> &Arc<D> {
        &self.deps
    }
}

/// For doors: whoever shows sessions to people and takes their answers, as a command line or a server does.
impl<D, O> Agent<D, O> {
    /// The session hub underneath.
    #[must_use]
    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        self.hub.store()
    }

    /// Opens the session with this key, creating it if need be. A run left unfinished goes on at once.
    pub async fn open(&self, key: &str) -> Result<Session, OpenError> {
        self.hub.open(self.opening(key), self.settings.clone()).await
    }

    /// The same, with every event from the very first.
    pub async fn session_followed(&self, key: &str) -> Result<(Session, Subscription), OpenError> {
        self.hub.open_followed(self.opening(key), self.settings.clone()).await
    }

    /// Opens a session that exists, with every event from the very first. An open run is taken up, and what waits for
    /// a person's approval in it is judged again or kept for an answer.
    pub async fn existing(
        &self,
        session: SessionId,
        approvals: OpenApprovals,
    ) -> Result<(Session, Subscription), OpenError> {
        self.hub.open_existing(session, self.settings.clone(), approvals).await
    }

    /// Opens a session for another try at its last run; `None` when that did not end badly.
    pub async fn retrying(&self, session: SessionId) -> Result<Option<(Session, Subscription, RunId)>, OpenError> {
        self.hub.open_retrying(session, self.settings.clone()).await
    }

    fn opening(&self, key: &str) -> SessionChoice {
        SessionChoice { owner: self.owner.clone(), key: key.to_owned(), workspace: self.workspace.clone() }
    }

    /// Opens a session and says something in it; gives what of it is of interest, and what is then awaited. Once that
    /// is over, what waits behind it is left in the inbox, unless something else is said.
    pub async fn session_saying(
        &self,
        key: &str,
        message_id: MessageId,
        prompt: impl Into<String>,
        interest: Interest,
    ) -> Result<(Session, Subscription, AwaitedEnd), OpenError> {
        let words = FirstMessage { message_id: message_id.clone(), text: prompt.into() };
        let opening = self.hub.open_saying(self.opening(key), self.settings.clone(), words, interest);
        let (session, events, sent) = opening.await?;
        Ok((session, events, AwaitedEnd::after(sent, message_id)))
    }

    /// Waits for the end of a run, showing every event on the way. Gives the end at once if the run
    /// is over already, and an error when only a person can move it on, whatever handler the agent has.
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
