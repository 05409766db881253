//! The way to a run's end: events as they come, and the end however late it is asked for.

use std::sync::Arc;

use windlass_runtime::{Session, SessionClosed, Standing, Subscription};
use windlass_store::{Store, StoreError};
use windlass_vocab::{Event, Record, RunEnded};

use crate::asking::{Asking, Handled, QuestionHandler};
use crate::ended::{Awaited, end_awaited};
use crate::follow_error::FollowError;

/// What comes next on the way.
#[derive(Debug)]
pub(crate) enum Next {
    /// Something happened.
    Event(Event),
    /// The run is over, or only a person can move it on.
    End(Result<RunEnded, FollowError>),
}

/// Where somebody stands who awaits a run's end.
#[derive(Debug)]
enum Stage {
    /// The run was not seen to begin, and the journal not looked at.
    Fresh,
    /// The end is yet to come.
    Awaiting,
    /// The end was in the journal, as the record of this number; what was told up to it comes first.
    Found(u64, RunEnded),
    /// The end was the last event.
    Seen(RunEnded),
}

/// Awaits the end of a run.
pub(crate) struct Pursuit {
    store: Arc<dyn Store>,
    awaited: Awaited,
    /// Where the run begins that takes the message up.
    begins: Option<u64>,
    stage: Stage,
    asking: Asking,
}

impl Pursuit {
    /// Whoever waits is told of questions.
    pub(crate) fn new(store: Arc<dyn Store>, awaited: Awaited) -> Self {
        Self::answering(store, awaited, None)
    }

    /// The handler, where there is one, answers questions.
    pub(crate) fn answering(store: Arc<dyn Store>, awaited: Awaited, handler: Option<QuestionHandler>) -> Self {
        Self { store, awaited, begins: None, stage: Stage::Fresh, asking: Asking::new(handler) }
    }

    /// The end.
    pub(crate) async fn end(&mut self, session: &Session, events: &mut Subscription) -> Result<RunEnded, FollowError> {
        loop {
            if let Next::End(ended) = self.next(session, events).await {
                return ended;
            }
        }
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What comes next. Nothing is lost if the future is dropped.
    pub(crate) async fn next(&mut self, session: &Session, events: &mut Subscription) -> Next {
        self.try_next(session, events).await.unwrap_or_else(|error| Next::End(Err(error)))
    }

    async fn try_next(&mut self, session: &Session, events: &mut Subscription) -> Result<Next, FollowError> {
        loop {
            match &self.stage {
                // Whoever subscribed before the run began sees it begin, and need not look for its end.
                Stage::Fresh => match events.try_next() {
                    Some(event) => {
                        self.notice(&event);
                        return Ok(Next::Event(event));
                    }
                    None => self.stage = self.look(session).await?.unwrap_or(Stage::Awaiting),
                },
                Stage::Found(seq, ended) => {
                    let next = if events.position() < *seq { events.next().await } else { None };
                    return Ok(next.map_or_else(|| Next::End(Ok(ended.clone())), Next::Event));
                }
                Stage::Seen(ended) => return Ok(Next::End(Ok(ended.clone()))),
                Stage::Awaiting => {
                    if let Some(next) = self.wait(session, events).await? {
                        return Ok(next);
                    }
                }
            }
        }
    }

    /// Waits for the next event or for the session to settle; nothing when the stage changed instead.
    async fn wait(&mut self, session: &Session, events: &mut Subscription) -> Result<Option<Next>, FollowError> {
        tokio::select! {
            biased;
            event = events.next() => {
                let Some(event) = event else { return Err(FollowError::Closed(closed(session))) };
                self.notice(&event);
                Ok(Some(Next::Event(event)))
            }
            standing = settled(&mut self.asking, session) => match standing? {
                Standing::Waiting(questions) => Ok(Some(Next::End(Err(FollowError::Waiting(questions))))),
                Standing::Closed(why) => Err(why.into()),
                Standing::Idle => match self.look(session).await? {
                    Some(found) => {
                        self.stage = found;
                        Ok(None)
                    }
                    None => Ok(Some(events.try_next().map_or(Next::End(Err(FollowError::Dropped)), Next::Event))),
                },
                Standing::Working => Ok(None),
            },
        }
    }

    /// The end, if the journal has it.
    async fn look(&mut self, session: &Session) -> Result<Option<Stage>, StoreError> {
        let found = end_awaited(self.store.as_ref(), session.id(), &mut self.awaited).await?;
        Ok(found.map(|(envelope, ended)| Stage::Found(envelope.seq, ended)))
    }

    /// Takes an event into account: the run that takes the message up, and its end.
    fn notice(&mut self, event: &Event) {
        let Event::Record(envelope) = event else { return };
        match (&envelope.record, &self.awaited) {
            (Record::MessageAccepted(accepted), Awaited::Message(id)) if accepted.message_id == *id => {
                self.begins = Some(envelope.seq + 1);
                if let Some(run) = envelope.run {
                    self.awaited = Awaited::Run(run);
                    self.stage = Stage::Awaiting;
                }
            }
            (Record::RunStarted(started), Awaited::Message(_)) if self.begins == Some(envelope.seq) => {
                self.awaited = Awaited::Run(started.run);
                self.stage = Stage::Awaiting;
            }
            (Record::RunStarted(started), Awaited::Run(run)) if started.run == *run => self.stage = Stage::Awaiting,
            (Record::RunEnded(ended), Awaited::Run(run)) if envelope.run == Some(*run) => {
                self.stage = Stage::Seen(ended.clone());
            }
            _ => {}
        }
    }
}

/// Waits until the session settles, and has questions answered meanwhile.
async fn settled(asking: &mut Asking, session: &Session) -> Result<Standing, FollowError> {
    loop {
        let standing = session.settled().await;
        let Standing::Waiting(questions) = &standing else { return Ok(standing) };
        match asking.answer(session, questions).await? {
            Handled::Done => {}
            Handled::Not => return Ok(standing),
        }
    }
}

fn closed(session: &Session) -> SessionClosed {
    match session.standing() {
        Standing::Closed(why) => why,
        Standing::Idle | Standing::Working | Standing::Waiting(_) => SessionClosed::Closed,
    }
}
