//! Waits for a run's end: returns events as they come, and the end even if the run ended before the wait began.

use std::sync::Arc;

use windlass_runtime::{Session, SessionActivity, SessionClosed, Subscription};
use windlass_store::{Store, StoreError};
use windlass_vocab::{Event, RunEnded, RunId, RunMilestone};

use crate::asking::{HandlerOutcome, QuestionAnswering, QuestionHandler};
use crate::ended::{AwaitedEnd, end_awaited};
use crate::follow_error::FollowError;

/// The next step of waiting.
#[derive(Debug)]
pub(crate) enum AwaitStep {
    /// An event of the session.
    Event(Event),
    /// The run is over, or waits for a person.
    End(Result<RunEnded, FollowError>),
}

/// How far a wait for a run's end has come.
#[derive(Debug)]
enum WaitStage {
    /// No start of the run was seen, and the journal was not searched yet.
    Fresh,
    /// The end has not happened yet.
    Awaiting,
    /// The journal has the end as the record with this number; the events before it are returned first.
    Found(u64, RunEnded),
    /// The end was the last event.
    Seen(RunEnded),
}

/// Waits for the end of a run.
pub(crate) struct RunWait {
    store: Arc<dyn Store>,
    awaited: AwaitedEnd,
    /// Sequence number at which the run that takes the message begins.
    begins: Option<u64>,
    stage: WaitStage,
    asking: QuestionAnswering,
}

impl RunWait {
    /// Waits without a handler: questions are returned to the caller.
    pub(crate) fn new(store: Arc<dyn Store>, awaited: AwaitedEnd) -> Self {
        Self::answering(store, awaited, None)
    }

    /// Waits with the handler, if there is one, answering questions.
    pub(crate) fn answering(store: Arc<dyn Store>, awaited: AwaitedEnd, handler: Option<QuestionHandler>) -> Self {
        Self { store, awaited, begins: None, stage: WaitStage::Fresh, asking: QuestionAnswering::new(handler) }
    }

    /// Returns the run whose end is awaited, once it is known.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.awaited.run()
    }

    /// Returns the end.
    pub(crate) async fn end(&mut self, session: &Session, events: &mut Subscription) -> Result<RunEnded, FollowError> {
        loop {
            if let AwaitStep::End(ended) = self.next(session, events).await {
                return ended;
            }
        }
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the next step. Nothing is lost if the future is dropped.
    pub(crate) async fn next(&mut self, session: &Session, events: &mut Subscription) -> AwaitStep {
        self.try_next(session, events).await.unwrap_or_else(|error| AwaitStep::End(Err(error)))
    }

    async fn try_next(&mut self, session: &Session, events: &mut Subscription) -> Result<AwaitStep, FollowError> {
        loop {
            match &self.stage {
                // A subscriber from before the run's start sees it begin, and need not search the journal for its end.
                WaitStage::Fresh => match events.try_next() {
                    Some(event) => {
                        self.notice(&event);
                        return Ok(AwaitStep::Event(event));
                    }
                    None => self.stage = self.look(session).await?.unwrap_or(WaitStage::Awaiting),
                },
                WaitStage::Found(seq, ended) => {
                    let next = if events.position() < *seq { events.next().await } else { None };
                    return Ok(next.map_or_else(|| AwaitStep::End(Ok(ended.clone())), AwaitStep::Event));
                }
                WaitStage::Seen(ended) => return Ok(AwaitStep::End(Ok(ended.clone()))),
                WaitStage::Awaiting => {
                    if let Some(next) = self.wait(session, events).await? {
                        return Ok(next);
                    }
                }
            }
        }
    }

    /// Waits for the next event or for the session to settle; returns none if only the stage changed.
    async fn wait(&mut self, session: &Session, events: &mut Subscription) -> Result<Option<AwaitStep>, FollowError> {
        tokio::select! {
            biased;
            event = events.next() => {
                let Some(event) = event else { return Err(FollowError::Closed(closed(session))) };
                self.notice(&event);
                Ok(Some(AwaitStep::Event(event)))
            }
            activity = settled(&mut self.asking, session) => match activity? {
                SessionActivity::Waiting(questions) => Ok(Some(AwaitStep::End(Err(FollowError::Waiting(questions))))),
                SessionActivity::Closed(why) => Err(why.into()),
                SessionActivity::Idle => match self.look(session).await? {
                    Some(found) => {
                        self.stage = found;
                        Ok(None)
                    }
                    None => Ok(Some(events.try_next().map_or(AwaitStep::End(Err(FollowError::Dropped)), AwaitStep::Event))),
                },
                SessionActivity::Working => Ok(None),
            },
        }
    }

    /// Returns the end, if the journal has it.
    async fn look(&mut self, session: &Session) -> Result<Option<WaitStage>, StoreError> {
        let found = end_awaited(self.store.as_ref(), session.id(), &mut self.awaited).await?;
        Ok(found.map(|(envelope, ended)| WaitStage::Found(envelope.seq, ended)))
    }

    /// Updates the wait with an event: notes which run takes the message, and the run's end.
    fn notice(&mut self, event: &Event) {
        let Event::Record(envelope) = event else { return };
        match (envelope.record.milestone(), &self.awaited) {
            (Some(RunMilestone::Accepted(accepted)), AwaitedEnd::Message(id)) if accepted.message_id == *id => {
                self.begins = Some(envelope.seq + 1);
                if let Some(run) = envelope.run {
                    self.awaited = AwaitedEnd::Run(run);
                    self.stage = WaitStage::Awaiting;
                }
            }
            (Some(RunMilestone::Started(started)), AwaitedEnd::Message(_)) if self.begins == Some(envelope.seq) => {
                self.awaited = AwaitedEnd::Run(started.run);
                self.stage = WaitStage::Awaiting;
            }
            (Some(RunMilestone::Started(started)), AwaitedEnd::Run(run)) if started.run == *run => {
                self.stage = WaitStage::Awaiting;
            }
            (Some(RunMilestone::Ended(ended)), AwaitedEnd::Run(run)) if envelope.run == Some(*run) => {
                self.stage = WaitStage::Seen(ended.clone());
            }
            (
                Some(
                    RunMilestone::Accepted(_)
                    | RunMilestone::Started(_)
                    | RunMilestone::Ended(_)
                    | RunMilestone::Resumed(_)
                    | RunMilestone::Turn(_)
                    | RunMilestone::Replied(_),
                )
                | None,
                AwaitedEnd::Message(_) | AwaitedEnd::Run(_),
            ) => {}
        }
    }
}

/// Waits until the session settles; meanwhile the handler answers questions.
async fn settled(asking: &mut QuestionAnswering, session: &Session) -> Result<SessionActivity, FollowError> {
    loop {
        let activity = session.settled().await;
        let SessionActivity::Waiting(questions) = &activity else { return Ok(activity) };
        match asking.answer(session, questions).await? {
            HandlerOutcome::GoesOn => {}
            HandlerOutcome::NotAnswered => return Ok(activity),
        }
    }
}

fn closed(session: &Session) -> SessionClosed {
    match session.activity() {
        SessionActivity::Closed(why) => why,
        SessionActivity::Idle | SessionActivity::Working | SessionActivity::Waiting(_) => SessionClosed::Closed,
    }
}
