//! The answer of a run in pieces, and the pieces as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as SentEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use serde_json::Value;
use windlass_vocab::{Event, RunEnded};

use super::answer_text::{AnswerText, ReplyReplaced};
use super::client_run::{ClientRun, RunStep};
use super::error::OpenAiError;
use super::progress::Progress;
use super::run_result::RunAnswer;

/// How often a silent stream says that it is alive: proxies and clients close what is silent for longer.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A server-sent event, not written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutgoingEvent {
    /// The name of the event; Chat Completions has none.
    pub(super) name: Option<&'static str>,
    pub(super) data: String,
}

impl OutgoingEvent {
    pub(super) fn unnamed(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    fn sent(self) -> SentEvent {
        let event = SentEvent::default().data(self.data);
        match self.name {
            Some(name) => event.event(name),
            None => event,
        }
    }
}

/// Writes an answer as the events of one wire.
pub(super) trait EventWriter {
    fn begin(&mut self) -> Vec<OutgoingEvent>;
    /// Text of the answer.
    fn text(&mut self, text: &str) -> Vec<OutgoingEvent>;
    /// Text about what the run does.
    fn progress(&mut self, text: &str) -> Vec<OutgoingEvent>;
    fn end(&mut self, answer: &RunAnswer) -> Vec<OutgoingEvent>;
    fn fail(&mut self, error: &OpenAiError) -> Vec<OutgoingEvent>;
}

/// Whether more events follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamStage {
    Open,
    Over,
}

struct AnswerEvents<W> {
    run: ClientRun,
    writer: W,
    text: AnswerText,
    progress: Progress,
    written: VecDeque<OutgoingEvent>,
    stage: StreamStage,
}

/// Returns the response that sends an answer while it comes.
pub(super) fn streamed<W: EventWriter + Send + 'static>(run: ClientRun, mut writer: W) -> Response {
    let written = writer.begin().into();
    let text = AnswerText::new(run.release);
    let answer = AnswerEvents { run, writer, text, progress: Progress::new(), written, stage: StreamStage::Open };
    Sse::new(answer.events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

impl<W: EventWriter> AnswerEvents<W> {
    fn events(self) -> impl Stream<Item = Result<SentEvent, Infallible>> {
        stream::unfold(self, |mut answer| async move {
            loop {
                if let Some(event) = answer.written.pop_front() {
                    return Some((Ok(event.sent()), answer));
                }
                match answer.stage {
                    StreamStage::Open => answer.advance().await,
                    StreamStage::Over => return None,
                }
            }
        })
    }

    async fn advance(&mut self) {
        let written = match self.run.next().await {
            Ok(RunStep::Event(event)) => self.event(event.event()),
            Ok(RunStep::Ended(ended)) => self.end(&ended),
            Err(error) => Err(error),
        };
        match written {
            Ok(written) => self.written.extend(written),
            Err(error) => {
                self.stage = StreamStage::Over;
                self.written.extend(self.writer.fail(&error));
            }
        }
    }

    fn event(&mut self, event: &Event) -> Result<Vec<OutgoingEvent>, OpenAiError> {
        let text = match event {
            Event::Record(envelope) => self.text.record(&envelope.record),
            Event::Delta(delta) => self.text.delta(delta),
        };
        let mut written: Vec<OutgoingEvent> =
            self.progress.text(event).map(|text| self.writer.progress(&text)).unwrap_or_default();
        written.extend(text.map_err(replaced)?.map(|text| self.writer.text(&text)).unwrap_or_default());
        Ok(written)
    }

    fn end(&mut self, ended: &RunEnded) -> Result<Vec<OutgoingEvent>, OpenAiError> {
        let answer = RunAnswer::of(ended)?;
        let rest = self.text.end(&answer.text).map_err(replaced)?;
        let mut written = rest.map(|text| self.writer.text(&text)).unwrap_or_default();
        written.extend(self.writer.end(&answer));
        self.stage = StreamStage::Over;
        Ok(written)
    }
}

fn replaced(_: ReplyReplaced) -> OpenAiError {
    OpenAiError::replaced()
}
