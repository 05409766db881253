//! The run that a request waits for. Nobody else does: if the client goes away the run is stopped, as OpenAI cancels a
//! request whose connection is closed.

use std::sync::Arc;

use windlass_runtime::{FollowedEvent, PublishedEvent, Session, SessionActivity, SessionClosed, Subscription};
use windlass_vocab::{Event, Record, RunEnded, RunId, SessionId};

use super::answer_text::TextRelease;
use super::error::OpenAiError;
use super::response_id::ResponseId;
use crate::error::ApiError;
use crate::open_runs::RunPlace;
use crate::state::HttpServer;

/// The next step of a run.
pub(super) enum RunStep {
    Event(Arc<PublishedEvent>),
    Ended(Box<RunEnded>),
}

/// A run, and its open session.
pub(super) struct ClientRun {
    state: Arc<HttpServer>,
    /// Taken once nobody waits any more.
    session: Option<Session>,
    events: Subscription,
    pub(super) id: SessionId,
    pub(super) run: RunId,
    /// The model as the request named it.
    pub(super) model: String,
    pub(super) release: TextRelease,
    /// When the request was accepted, in seconds.
    pub(super) created: i64,
    _place: RunPlace,
}

/// What is known of a run that began.
pub(super) struct BegunRun {
    pub(super) session: Session,
    pub(super) events: Subscription,
    pub(super) run: RunId,
    pub(super) model: String,
    pub(super) release: TextRelease,
    pub(super) place: RunPlace,
}

impl ClientRun {
    pub(super) fn new(state: &Arc<HttpServer>, begun: BegunRun) -> Self {
        let BegunRun { session, events, run, model, release, place } = begun;
        let created = state.clock.now().0 / 1_000;
        let id = session.id();
        Self {
            state: Arc::clone(state),
            session: Some(session),
            events,
            id,
            run,
            model,
            release,
            created,
            // The session may have been made for the request.
            _place: place.of(id),
        }
    }

    /// Returns the next event of the run, or its end. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<RunStep, OpenAiError> {
        loop {
            let Some(session) = &self.session else { return Err(closed(SessionClosed::Closed)) };
            let followed = tokio::select! {
                biased;
                followed = self.events.next_followed() => followed,
                activity = session.wait_for_person() => match activity {
                    SessionActivity::Waiting(_) => {
                        self.leave();
                        return Err(OpenAiError::waits());
                    }
                    // The events that were published before come first.
                    SessionActivity::Closed(_) | SessionActivity::Idle | SessionActivity::Working => {
                        self.events.next_followed().await
                    }
                },
            };
            match followed.map_err(|error| OpenAiError::from(ApiError::from(error)).of_run())? {
                Some(FollowedEvent::Event(event)) => {
                    if let Some(step) = self.step(event) {
                        return Ok(step);
                    }
                }
                Some(FollowedEvent::FellBehind) => {}
                None => {
                    let why = match session.activity() {
                        SessionActivity::Closed(why) => why,
                        SessionActivity::Idle | SessionActivity::Working | SessionActivity::Waiting(_) => {
                            SessionClosed::Closed
                        }
                    };
                    return Err(closed(why));
                }
            }
        }
    }

    /// Returns the id of its answer.
    pub(super) fn answer_id(&self) -> ResponseId {
        ResponseId { session: self.id, run: self.run }
    }

    /// Waits for the end.
    pub(super) async fn end(mut self) -> Result<RunEnded, OpenAiError> {
        loop {
            if let RunStep::Ended(ended) = self.next().await? {
                return Ok(*ended);
            }
        }
    }

    /// Returns the event if it is one of the run.
    fn step(&mut self, event: Arc<PublishedEvent>) -> Option<RunStep> {
        let run = match event.event() {
            Event::Record(envelope) => envelope.run,
            Event::Delta(delta) => Some(delta.run),
        };
        if run != Some(self.run) {
            return None;
        }
        if let Event::Record(envelope) = event.event()
            && let Record::RunEnded(ended) = &envelope.record
        {
            let ended = Box::new(ended.clone());
            self.leave();
            return Some(RunStep::Ended(ended));
        }
        Some(RunStep::Event(event))
    }

    /// Leaves the session to itself: it is closed once it is idle.
    fn leave(&mut self) {
        if let Some(session) = self.session.take() {
            self.state.keeper.keep(session);
        }
    }
}

impl Drop for ClientRun {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.state.keeper.stop(session);
        }
    }
}

fn closed(why: SessionClosed) -> OpenAiError {
    OpenAiError::from(ApiError::from(why)).of_run()
}
