//! A running run: its events as they come, a method to stop it, and its end.

use std::marker::PhantomData;

use windlass_runtime::{Session, SessionClosed, StopOutcome, Subscription};
use windlass_vocab::{Event, RunEnded, StopBy};

use crate::output::{Output, output_of};
use crate::run_error::{RunError, RunErrorReason, text_so_far};
use crate::run_wait::{AwaitStep, RunWait};

/// A running run. Dropping the handle closes the session: the run stays open in the journal and continues when the
/// session is opened again.
///
/// ```no_run
/// # async fn example(agent: windlass::Agent) -> Result<(), Box<dyn std::error::Error>> {
/// use windlass::{Event, Record};
///
/// let mut running = agent.start("Summarise README.md.").await?;
/// while let Some(event) = running.next().await {
///     if let Event::Record(envelope) = &event
///         && let Record::CallStarted(started) = &envelope.record
///     {
///         println!("call {} begins", started.call);
///     }
/// }
/// println!("{}", running.answer().await?);
/// # Ok(())
/// # }
/// ```
#[must_use = "a run whose handle is dropped stands still until its session is opened again"]
pub struct RunHandle<Output = String> {
    key: String,
    session: Session,
    events: Subscription,
    run_wait: RunWait,
    output: PhantomData<fn() -> Output>,
}

impl<O> std::fmt::Debug for RunHandle<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunHandle").field("session", &self.session.id()).finish_non_exhaustive()
    }
}

impl<O> RunHandle<O> {
    pub(crate) fn new(key: String, session: Session, events: Subscription, run_wait: RunWait) -> Self {
        Self { key, session, events, run_wait, output: PhantomData }
    }

    /// Returns the key of the run's session.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the run's session. A clone of it can stop the run, steer it or answer its questions from anywhere.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the next event; `None` when the run is over or waits for a person ([`ended`](Self::ended) says which).
    /// Nothing is lost when the future is dropped, so it can be used in a `select!`.
    pub async fn next(&mut self) -> Option<Event> {
        match self.run_wait.next(&self.session, &mut self.events).await {
            AwaitStep::Event(event) => Some(event),
            AwaitStep::End(_) => None,
        }
    }

    /// Stops the run as a person would (L8): the streamed text is kept, and the run ends as cancelled.
    pub async fn stop(&self) -> Result<StopOutcome, SessionClosed> {
        self.session.stop(StopBy::Person).await
    }

    /// Waits for the end, closes the session, and returns the whole end, however the run ended.
    pub async fn ended(mut self) -> Result<RunEnded, RunError> {
        let ended = self.run_wait.end(&self.session, &mut self.events).await;
        let ended = match ended {
            Ok(ended) => Ok(ended),
            Err(error) => Err(self.error(error.into()).await),
        };
        self.session.close().await;
        ended
    }

    async fn error(&self, reason: RunErrorReason) -> RunError {
        let text = match self.run_wait.run() {
            Some(run) => text_so_far(self.run_wait.store().as_ref(), self.session.id(), run).await.unwrap_or_default(),
            None => String::new(),
        };
        RunError { reason, text, session: self.key.clone() }
    }
}

impl<O: Output> RunHandle<O> {
    /// Waits for the end, closes the session, and returns the run's answer; any other end is an error.
    pub async fn answer(mut self) -> Result<O, RunError> {
        let reason = match self.run_wait.end(&self.session, &mut self.events).await {
            Ok(ended) => output_of(&ended),
            Err(error) => Err(error.into()),
        };
        let answer = match reason {
            Ok(answer) => Ok(answer),
            Err(reason) => Err(self.error(reason).await),
        };
        self.session.close().await;
        answer
    }
}
