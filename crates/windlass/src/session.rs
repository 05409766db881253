//! One session of an agent, by its key.

use std::path::PathBuf;
use std::sync::Arc;

use uuid::Uuid;
use windlass_runtime::{Interest, OpenApprovals, SentMessage};
use windlass_store::ReverseRecords;
use windlass_tools::AttachError;
use windlass_vocab::{MessageId, RunEnded, RunId, RunMilestone};

use crate::agent::Agent;
use crate::ended::{AwaitedEnd, end_awaited};
use crate::follow_error::FollowError;
use crate::message::Prompt;
use crate::output::{Output, output_of};
use crate::run_error::{RunError, RunErrorReason, text_so_far};
use crate::run_handle::RunHandle;
use crate::run_wait::RunWait;

/// One session of an agent: each message continues its conversation. The session is opened when a message is sent.
///
/// ```no_run
/// # async fn example(agent: windlass::Agent) -> Result<(), windlass::RunError> {
/// let notes = agent.session("notes");
/// notes.run("My boat is called Anna.").await?;
/// println!("{}", notes.run("What is my boat called?").await?);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is said in a session by itself"]
pub struct AgentSession<'a, Deps = (), Output = String> {
    agent: &'a Agent<Deps, Output>,
    key: String,
    message_id: Option<MessageId>,
}

impl<D, O> std::fmt::Debug for AgentSession<'_, D, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentSession").field("key", &self.key).finish_non_exhaustive()
    }
}

impl<'a, D, O> AgentSession<'a, D, O> {
    pub(crate) fn new(agent: &'a Agent<D, O>, key: String) -> Self {
        Self { agent, key, message_id: None }
    }

    /// Returns the session's key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Gives the next message an id: however often a message is sent with the same id, it counts once. `run` then
    /// continues the unfinished run, or returns the answer of the finished one again.
    pub fn once(mut self, message_id: impl Into<String>) -> Self {
        self.message_id = Some(MessageId(message_id.into()));
        self
    }

    /// Sends a message, waits for the end of the run and returns the whole end, however the run ended: reason, answer,
    /// usage, output. An error means that the run has not ended.
    pub async fn run_full(&self, message: impl Into<Prompt>) -> Result<RunEnded, RunError> {
        let mut run = None;
        match self.send_and_wait(message.into(), &mut run).await {
            Ok(ended) => Ok(ended),
            Err(reason) => Err(self.error(reason, run).await),
        }
    }

    /// Sends a message and waits for the end of its run. `run` is set to that run once it is known.
    async fn send_and_wait(&self, message: Prompt, run: &mut Option<RunId>) -> Result<RunEnded, RunErrorReason> {
        if let Some(ended) = self.earlier_end(run).await? {
            return Ok(ended);
        }
        let message = message.read().await.map_err(unattached)?;
        Ok(self.send_and_follow(message, run).await?)
    }

    /// Returns the end of the run of a message that was sent before with the same id.
    async fn earlier_end(&self, run: &mut Option<RunId>) -> Result<Option<RunEnded>, FollowError> {
        let agent = self.agent;
        let store = agent.store();
        if let Some(id) = &self.message_id
            && let Some(session) = store.find(&agent.owner, &self.key).await?
        {
            let mut awaited = AwaitedEnd::Message(id.clone());
            if let Some((_, ended)) = end_awaited(store.as_ref(), session, &mut awaited).await? {
                *run = awaited.run();
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    async fn send_and_follow(&self, message: SentMessage, run: &mut Option<RunId>) -> Result<RunEnded, FollowError> {
        let id = self.message_id();
        let opening = self.agent.open_and_send(&self.key, id, message, Interest::Runs);
        let (session, mut events, awaited) = opening.await?;
        let mut run_wait = self.run_wait(awaited);
        let ended = run_wait.end(&session, &mut events).await;
        *run = run_wait.run();
        session.close().await;
        ended
    }

    /// Sends a message and returns the running run: its events, a method to stop it, its end.
    pub async fn start(&self, message: impl Into<Prompt>) -> Result<RunHandle<O>, RunError> {
        let message = match message.into().read().await {
            Ok(message) => message,
            Err(problem) => return Err(self.error(unattached(problem), None).await),
        };
        let opening = self.agent.open_and_send(&self.key, self.message_id(), message, Interest::Everything);
        match opening.await {
            Ok((session, events, awaited)) => {
                Ok(RunHandle::new(self.key.clone(), session, events, self.run_wait(awaited)))
            }
            Err(error) => Err(self.error(FollowError::from(error).into(), None).await),
        }
    }

    /// Resumes the run that was left unfinished, by a crash, by dropping its handle or because it waits for an
    /// answer; returns `None` if there is none.
    pub async fn resume(&self) -> Result<Option<RunHandle<O>>, RunError> {
        match self.taken_up().await {
            Ok(running) => Ok(running),
            Err(error) => Err(self.error(error.into(), None).await),
        }
    }

    async fn taken_up(&self) -> Result<Option<RunHandle<O>>, FollowError> {
        let (agent, store) = (self.agent, self.agent.store());
        let Some(id) = store.find(&agent.owner, &self.key).await? else { return Ok(None) };
        // The newer of these two records decides whether a run is open.
        let newest = ReverseRecords::new(store.as_ref(), id).find_map(|envelope| match envelope.record.milestone() {
            Some(RunMilestone::Started(started)) => Some(Some(started.run)),
            Some(RunMilestone::Ended(_)) => Some(None),
            Some(
                RunMilestone::Accepted(_) | RunMilestone::Resumed(_) | RunMilestone::Turn(_) | RunMilestone::Replied(_),
            )
            | None => None,
        });
        let Some(run) = newest.await?.flatten() else { return Ok(None) };
        let (session, events) = agent.open_existing(id, OpenApprovals::CheckedAgain).await?;
        let run_wait = self.run_wait(AwaitedEnd::Run(run));
        Ok(Some(RunHandle::new(self.key.clone(), session, events, run_wait)))
    }

    fn run_wait(&self, awaited: AwaitedEnd) -> RunWait {
        RunWait::answering(Arc::clone(self.agent.store()), awaited, self.agent.on_question.clone())
    }

    fn message_id(&self) -> MessageId {
        self.message_id.clone().unwrap_or_else(|| MessageId(Uuid::now_v7().to_string()))
    }

    /// Returns the error for this reason, with the run's text so far; empty if no run began or it can't be read.
    async fn error(&self, reason: RunErrorReason, run: Option<RunId>) -> RunError {
        let store = self.agent.store();
        let text = match (store.find(&self.agent.owner, &self.key).await, run) {
            (Ok(Some(session)), Some(run)) => text_so_far(store.as_ref(), session, run).await.unwrap_or_default(),
            (Ok(Some(_)), None) | (Ok(None) | Err(_), _) => String::new(),
        };
        RunError { reason, text, session: self.key.clone() }
    }
}

impl<D, O: Output> AgentSession<'_, D, O> {
    /// Sends a message, waits for the run's end and returns its answer. Messages queued behind it stay in the inbox.
    pub async fn run(&self, message: impl Into<Prompt>) -> Result<O, RunError> {
        let mut run = None;
        let output = match self.send_and_wait(message.into(), &mut run).await {
            Ok(ended) => output_of(&ended),
            Err(reason) => Err(reason),
        };
        match output {
            Ok(output) => Ok(output),
            Err(reason) => Err(self.error(reason, run).await),
        }
    }
}

/// The reason for a file that can't be attached.
fn unattached((path, error): (PathBuf, AttachError)) -> RunErrorReason {
    RunErrorReason::Unattached { path, error }
}
