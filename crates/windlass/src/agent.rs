//! An agent: a runtime and the terms its runs are begun under.

use uuid::Uuid;
use windlass_runtime::{OpenError, Opening, Runtime, Sent, Session, SessionClosed, Standing, Subscription};
use windlass_store::StoreError;
use windlass_vocab::{Event, MessageId, QuestionAsked, Record, RunEnded, RunId, SessionId};

use crate::builder::Builder;
use crate::ended::{Awaited, end_awaited};

/// A run that gave no end to report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
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

/// An agent, ready to work.
#[derive(Clone, Debug)]
pub struct Agent {
    pub(crate) runtime: Runtime,
    pub(crate) terms: windlass_runtime::Agent,
    pub(crate) owner: String,
    pub(crate) workspace: Option<String>,
}

impl Agent {
    /// Begins one.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The runtime underneath.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Opens the session with this key, creating it if need be. A run left unfinished goes on at once.
    pub async fn session(&self, key: &str) -> Result<Session, OpenError> {
        self.runtime.open(self.opening(key), self.terms.clone()).await
    }

    /// The same, with every event from the very first.
    pub async fn session_followed(&self, key: &str) -> Result<(Session, Subscription), OpenError> {
        self.runtime.open_followed(self.opening(key), self.terms.clone()).await
    }

    /// Opens a session that exists, with every event from the very first.
    pub async fn existing(&self, session: SessionId) -> Result<(Session, Subscription), OpenError> {
        self.runtime.open_existing(session, self.terms.clone()).await
    }

    fn opening(&self, key: &str) -> Opening {
        Opening { owner: self.owner.clone(), key: key.to_owned(), workspace: self.workspace.clone() }
    }

    /// Says something in a session and waits for the end of the run.
    pub async fn run(&self, key: &str, prompt: &str) -> Result<RunEnded, RunError> {
        self.say(key, MessageId(Uuid::now_v7().to_string()), prompt).await
    }

    /// The same with a message id: repeating the call never repeats the message. It goes on with the
    /// unfinished run, or gives the finished one's end again, whoever has the session.
    pub async fn run_once(&self, key: &str, message_id: MessageId, prompt: &str) -> Result<RunEnded, RunError> {
        let store = &self.runtime.outside().store;
        if let Some(session) = store.find(&self.owner, key).await?
            && let Some((_, ended)) =
                end_awaited(store.as_ref(), session, &mut Awaited::Message(message_id.clone())).await?
        {
            return Ok(ended);
        }
        self.say(key, message_id, prompt).await
    }

    async fn say(&self, key: &str, message_id: MessageId, prompt: &str) -> Result<RunEnded, RunError> {
        let session = self.session(key).await?;
        let ended = self.ask(&session, message_id, prompt).await;
        session.close().await;
        ended
    }

    async fn ask(&self, session: &Session, message_id: MessageId, prompt: &str) -> Result<RunEnded, RunError> {
        let mut events = session.records();
        let awaited = match session.send(message_id.clone(), prompt).await? {
            Sent::TakenUp(run) | Sent::Known(run) => Awaited::Run(run),
            Sent::Queued => Awaited::Message(message_id),
        };
        self.follow(session, &mut events, awaited, |_| {}).await
    }

    /// Waits for the end of a run, showing every event on the way. Gives the end at once if the run
    /// is over already, and an error when only a person can move it on.
    pub async fn follow(
        &self,
        session: &Session,
        events: &mut Subscription,
        mut awaited: Awaited,
        mut show: impl FnMut(&Event),
    ) -> Result<RunEnded, RunError> {
        if let Some(ended) = self.recorded_end(session.id(), &mut awaited).await? {
            show_rest(events, show);
            return Ok(ended);
        }
        // Where the run begins that takes the message up.
        let mut begins = None;
        loop {
            tokio::select! {
                biased;
                event = events.next() => {
                    let Some(event) = event else { return Err(RunError::Closed(closed(session))) };
                    show(&event);
                    let Event::Record(envelope) = &event else { continue };
                    match (&envelope.record, &awaited) {
                        (Record::MessageAccepted(accepted), Awaited::Message(id)) if accepted.message_id == *id => {
                            begins = Some(envelope.seq + 1);
                            awaited = envelope.run.map_or(awaited, Awaited::Run);
                        }
                        (Record::RunStarted(started), Awaited::Message(_)) if begins == Some(envelope.seq) => {
                            awaited = Awaited::Run(started.run);
                        }
                        (Record::RunEnded(ended), Awaited::Run(run)) if envelope.run == Some(*run) => {
                            return Ok(ended.clone());
                        }
                        _ => {}
                    }
                }
                standing = session.settled() => match standing {
                    Standing::Waiting(questions) => return Err(RunError::Waiting(questions)),
                    Standing::Closed(why) => return Err(why.into()),
                    Standing::Idle => {
                        let ended = self.recorded_end(session.id(), &mut awaited).await?;
                        show_rest(events, show);
                        return ended.ok_or(RunError::Dropped);
                    }
                    Standing::Working => {}
                },
            }
        }
    }

    /// How a run ended, if it did.
    pub async fn ended(&self, session: SessionId, run: RunId) -> Result<Option<RunEnded>, StoreError> {
        self.recorded_end(session, &mut Awaited::Run(run)).await
    }

    async fn recorded_end(&self, session: SessionId, awaited: &mut Awaited) -> Result<Option<RunEnded>, StoreError> {
        Ok(end_awaited(self.runtime.outside().store.as_ref(), session, awaited).await?.map(|(_, ended)| ended))
    }
}

fn show_rest(events: &mut Subscription, mut show: impl FnMut(&Event)) {
    while let Some(event) = events.try_next() {
        show(&event);
    }
}

fn closed(session: &Session) -> SessionClosed {
    match session.standing() {
        Standing::Closed(why) => why,
        Standing::Idle | Standing::Working | Standing::Waiting(_) => SessionClosed::Closed,
    }
}
