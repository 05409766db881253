//! The reply as far as it has arrived.
//!
//! The protocol: add events in order, then finish. What an event adds goes to the sink; the final reply is the same
//! however the events were delivered, and the same as that of a whole body with the same output. Only the event that
//! ends the response completes a reply. Unknown events and items are passed over.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_vocab::{Reply, StopReason, Usage};

use super::event::{ResponseObject, StreamEvent};
use super::item::ReasoningSection;
use super::output::OutputSoFar;
use crate::answer::draft::{OutOfResources, StreamError, WholeError, WireDraft};
use crate::piece::Piece;
use crate::server::report::ErrorReport;

/// The reply so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseDraft {
    output: OutputSoFar,
    ending: Option<ResponseEnd>,
    usage: Option<Usage>,
    model: Option<String>,
    any_piece: bool,
    any_event: bool,
    any_known_event: bool,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseEnd {
    /// By itself: the reply says why.
    Completed,
    /// At the limit on its length, or another one: it can be continued.
    Limited,
    /// By the provider's filter.
    Filtered,
}

impl WireDraft for ResponseDraft {
    fn add(&mut self, text: &str, sink: &mut dyn FnMut(Piece<'_>)) -> Result<(), StreamError> {
        let event: StreamEvent<'_> = serde_json::from_str(text).map_err(|_| StreamError::unread(text))?;
        self.any_event = true;
        self.any_known_event |= event.kind().starts_with("response.");
        // Nothing that follows the end belongs to the reply.
        if self.ending.is_some() {
            return Ok(());
        }
        let mut any_piece = self.any_piece;
        let added = self.add_event(&event, text, &mut |piece| {
            any_piece = true;
            sink(piece);
        });
        self.any_piece = any_piece;
        added
    }

    fn flush(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        let Self { output, any_piece, .. } = self;
        output.flush(&mut |piece| {
            *any_piece = true;
            sink(piece);
        });
    }

    fn is_finished(&self) -> bool {
        self.ending.is_some()
    }

    fn is_done(&self) -> bool {
        self.ending.is_some()
    }

    fn any_piece(&self) -> bool {
        self.any_piece
    }

    fn is_thinking(&self) -> bool {
        self.any_piece && self.output.is_thinking()
    }

    fn is_foreign(&self) -> bool {
        self.any_event && !self.any_known_event
    }

    fn finish(mut self) -> Result<Reply, OutOfResources> {
        self.flush(&mut |_| {});
        let stop = self.stop();
        let (parts, calls) = self.output.finish();
        Ok(Reply { parts, calls, stop, usage: self.usage, model: self.model })
    }

    fn read_whole(text: &str) -> Result<Reply, WholeError> {
        let response: ResponseObject<'_> = serde_json::from_str(text).map_err(|error| WholeError::from(&error))?;
        if !response.is_response() {
            return Err(response.reported().map_or(WholeError::Foreign, WholeError::Reported));
        }
        let mut draft = Self::default();
        draft.end(&response, "response.completed", &mut |_| {}).map_err(WholeError::Reported)?;
        if draft.ending.is_none() {
            return Err(WholeError::BrokenOff);
        }
        Ok(draft.finish()?)
    }
}

impl ResponseDraft {
    fn add_event(
        &mut self,
        event: &StreamEvent<'_>,
        text: &str,
        sink: &mut dyn FnMut(Piece<'_>),
    ) -> Result<(), StreamError> {
        let (index, output) = (event.output_index, &mut self.output);
        match event.kind() {
            "response.output_item.added" => output.begin(index, &member(event.item, text)?, sink),
            "response.output_item.done" => output.complete(index, &member(event.item, text)?, sink),
            "response.output_text.delta" => output.add_text(event, sink),
            "response.refusal.delta" => output.add_refusal(event, sink),
            "response.reasoning_summary_text.delta" => {
                output.add_thinking(event, ReasoningSection::Summary(event.summary_index.unwrap_or(0)), sink);
            }
            "response.reasoning_text.delta" => {
                output.add_thinking(event, ReasoningSection::Open(event.content_index.unwrap_or(0)), sink);
            }
            "response.function_call_arguments.delta" => output.add_arguments(event, sink),
            kind @ ("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
                let response = member(event.response, text)?;
                self.end(&response, kind, sink).map_err(StreamError::Reported)?;
            }
            _ if event.is_error() => {
                return Err(StreamError::Reported(ErrorReport::read(text.as_bytes()).unwrap_or_default()));
            }
            // Announcements, repetitions of what deltas and whole items bring, and what is not known.
            _ => {}
        }
        Ok(())
    }

    /// Takes the response object at the end of the response. `kind` says how it ended if the object does not.
    fn end(
        &mut self,
        response: &ResponseObject<'_>,
        kind: &str,
        sink: &mut dyn FnMut(Piece<'_>),
    ) -> Result<(), ErrorReport> {
        let status = match response.status() {
            "" => kind.trim_start_matches("response."),
            status => status,
        };
        let ending = match (status, response.incomplete_reason()) {
            ("failed" | "cancelled", _) => {
                let nameless =
                    || ErrorReport { message: format!("the response ended as {status}"), ..ErrorReport::default() };
                return Err(response.reported().unwrap_or_else(nameless));
            }
            ("in_progress" | "queued", _) => return Ok(()),
            ("incomplete", "content_filter") => ResponseEnd::Filtered,
            ("incomplete", _) => ResponseEnd::Limited,
            _ => ResponseEnd::Completed,
        };
        self.output.complete_all(response.output.as_deref().unwrap_or_default(), sink);
        self.output.flush(sink);
        self.ending = Some(ending);
        self.usage = response.usage();
        self.model = response.model();
        Ok(())
    }

    fn stop(&self) -> StopReason {
        match self.ending {
            Some(ResponseEnd::Filtered) => StopReason::Filtered,
            Some(ResponseEnd::Limited) => StopReason::Length,
            Some(ResponseEnd::Completed) | None if self.output.any_call() => StopReason::Calls,
            Some(ResponseEnd::Completed) | None if self.output.is_refusal() => StopReason::Refused,
            Some(ResponseEnd::Completed) | None => StopReason::Stop,
        }
    }
}

/// Parses a member of an event that must be there. `text` is the event.
fn member<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>, text: &str) -> Result<T, StreamError> {
    let read = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    read.ok_or_else(|| StreamError::Foreign(text.to_owned()))
}
