//! What a wire must be able to do with an answer.

use windlass_vocab::Reply;

use crate::piece::Piece;
use crate::server::report::ErrorReport;
use crate::sse::EventTooLong;

/// The reply of one wire as far as it has arrived.
///
/// The protocol: add events in order, then finish. The contents of an event go to the sink as it is added; the final
/// reply is the same however the bytes were cut.
pub trait WireDraft: Default + Send + 'static {
    /// Adds the data of one event, which should be JSON.
    fn add(&mut self, text: &str, sink: &mut dyn FnMut(Piece<'_>)) -> Result<(), StreamError>;

    /// Takes events at the start of `bytes` that can be recognized without parsing them, and returns the bytes that
    /// follow. Called only between events. Text may be kept for [`WireDraft::emit_kept`].
    fn take_plain<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        bytes
    }

    /// Emits the text that [`WireDraft::take_plain`] kept.
    fn emit_kept(&mut self, _sink: &mut dyn FnMut(Piece<'_>)) {}

    /// Emits text that was held back, because no more can arrive.
    fn flush(&mut self, _sink: &mut dyn FnMut(Piece<'_>)) {}

    /// Whether the reply is complete; at most usage may follow.
    fn is_finished(&self) -> bool;

    /// Whether the mark `[DONE]` completes the reply where nothing else did.
    fn is_finished_by_end_mark(&self) -> bool {
        false
    }

    /// Whether the last event of this wire has arrived: nothing can follow.
    fn is_done(&self) -> bool {
        false
    }

    /// Whether anything went to the sink.
    fn any_piece(&self) -> bool;

    /// Whether the model is still reasoning: a longer silence is then normal.
    fn is_thinking(&self) -> bool;

    /// Whether events have arrived, and all were of another wire.
    fn is_foreign(&self) -> bool;

    /// Returns the reply.
    fn finish(self) -> Result<Reply, OutOfResources>;

    /// Decodes the reply of a body that is not a stream.
    fn read_whole(text: &str) -> Result<Reply, WholeError>;
}

/// The server gave up in the middle of the answer and reports it as the finish reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfResources;

/// Why a stream can't continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// It, or one of its events, is longer than the limit.
    TooLong,
    /// An event, given here, is not JSON.
    NotJson(String),
    /// An event, given here, is JSON, but of another shape.
    Foreign(String),
    /// The server reports an error in place of the rest.
    Reported(ErrorReport),
}

impl From<EventTooLong> for StreamError {
    fn from(_: EventTooLong) -> Self {
        Self::TooLong
    }
}

impl StreamError {
    /// Returns why an event with this data can't be used.
    pub(crate) fn unread(text: &str) -> Self {
        let start = text.to_owned();
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if is_json { Self::Foreign(start) } else { Self::NotJson(start) }
    }
}

/// Why a whole body has no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WholeError {
    /// It ends in the middle.
    BrokenOff,
    /// It is not of this wire.
    Foreign,
    /// The server reports an error in place of a reply.
    Reported(ErrorReport),
    /// The server gave up in the middle of the answer.
    OutOfResources,
}

impl From<OutOfResources> for WholeError {
    fn from(OutOfResources: OutOfResources) -> Self {
        Self::OutOfResources
    }
}

impl From<&serde_json::Error> for WholeError {
    fn from(error: &serde_json::Error) -> Self {
        if error.is_eof() { Self::BrokenOff } else { Self::Foreign }
    }
}
