//! A run under way: its events as they come, a way to stop it, and its end.

use std::marker::PhantomData;

use windlass_runtime::{Session, SessionClosed, Stopped, Subscription};
use windlass_vocab::{Event, RunEnded, StopBy};

use crate::agent::FollowError;
use crate::output::{Output, OutputError, output_of};
use crate::pursuit::{Next, Pursuit};

/// A run under way. Whoever drops it lets go of the session: the run stays open in the journal and
/// goes on when the session is opened again.
///
/// ```no_run
/// # async fn example(agent: windlass::Agent) -> Result<(), Box<dyn std::error::Error>> {
/// use windlass::{Event, Record};
///
/// let mut running = agent.start("notes", "Summarise README.md.").await?;
/// while let Some(event) = running.next().await {
///     if let Event::Record(envelope) = &event
///         && let Record::CallStarted(started) = &envelope.record
///     {
///         println!("call {} begins", started.call);
///     }
/// }
/// println!("{}", running.ended().await?.answer);
/// # Ok(())
/// # }
/// ```
#[must_use = "a run whose handle is dropped stands still until its session is opened again"]
pub struct Running<Output = String> {
    session: Session,
    events: Subscription,
    pursuit: Pursuit,
    output: PhantomData<fn() -> Output>,
}

impl<O> std::fmt::Debug for Running<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("session", &self.session.id()).finish_non_exhaustive()
    }
}

impl<O> Running<O> {
    pub(crate) fn new(session: Session, events: Subscription, pursuit: Pursuit) -> Self {
        Self { session, events, pursuit, output: PhantomData }
    }

    /// The session it runs in. A clone of it can stop the run, steer it or answer its questions from
    /// anywhere.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The next event; `None` when the run is over or waits for a person, and [`ended`](Self::ended)
    /// says which. Nothing is lost when the future is dropped, so it may stand in a `select!`.
    pub async fn next(&mut self) -> Option<Event> {
        match self.pursuit.next(&self.session, &mut self.events).await {
            Next::Event(event) => Some(event),
            Next::End(_) => None,
        }
    }

    /// Stops the run as a person would (L8): what was streamed is kept, and it ends as cancelled.
    pub async fn stop(&self) -> Result<Stopped, SessionClosed> {
        self.session.stop(StopBy::Person).await
    }

    /// Waits for the end, and closes the session.
    pub async fn ended(mut self) -> Result<RunEnded, FollowError> {
        let ended = loop {
            if let Next::End(ended) = self.pursuit.next(&self.session, &mut self.events).await {
                break ended;
            }
        };
        self.session.close().await;
        ended
    }
}

impl<O: Output> Running<O> {
    /// Waits for the end, closes the session, and gives the run's output.
    pub async fn output(self) -> Result<O, OutputError> {
        output_of(&self.ended().await?)
    }
}
