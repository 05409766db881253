//! A streamed answer, decoded from bytes as they arrive.
//!
//! ```
//! use std::sync::Arc;
//! use windlass_provider::chat::ChatStream;
//! use windlass_provider::{AnswerLimits, Endpoint, Piece};
//!
//! let endpoint = Endpoint { base_url: "http://localhost:8080/v1".into(), model: "m".into(), key: None };
//! let mut stream = ChatStream::new(Arc::new(endpoint), AnswerLimits::default());
//! let mut shown = String::new();
//! let mut sink = |piece: Piece<'_>| if let Piece::Text(text) = piece { shown.push_str(text) };
//! // Cut anywhere, here in the middle of a word.
//! stream.push(br#"data: {"choices":[{"delta":{"content":"hel"#, &mut sink)?;
//! stream.push(b"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", &mut sink)?;
//! let reply = stream.finish(&mut sink)?;
//! assert_eq!((reply.text(), shown), ("hello".to_owned(), "hello".to_owned()));
//! # Ok::<(), windlass_vocab::Failure>(())
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use windlass_vocab::{Failure, FailureClass, Reply};

use super::draft::{OutOfResources, StreamError, WireDraft};
use crate::piece::Piece;
use crate::server::classify::classify_report;
use crate::server::endpoint::Endpoint;
use crate::server::report::ErrorReport;
use crate::sse::{Sse, SseEvent};

/// Limits on the size of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Bytes of one event of a stream.
    pub event_bytes: usize,
    /// Bytes of a whole answer, or of the text, reasoning and arguments of a stream together.
    pub answer_bytes: usize,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { event_bytes: 16 << 20, answer_bytes: 64 << 20 }
    }
}

/// A streamed answer received so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerStream<D> {
    endpoint: Arc<Endpoint>,
    limits: AnswerLimits,
    sse: Sse,
    draft: D,
    kept: usize,
    done: bool,
}

impl<D: WireDraft> AnswerStream<D> {
    /// Returns an empty stream.
    #[must_use]
    pub fn new(endpoint: Arc<Endpoint>, limits: AnswerLimits) -> Self {
        let sse = Sse::new(limits.event_bytes);
        Self { endpoint, limits, sse, draft: D::default(), kept: 0, done: false }
    }

    /// Adds bytes, cut anywhere; pieces go to `sink`.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Piece<'_>)) -> Result<(), Failure> {
        let Self { sse, draft, kept, done, .. } = self;
        let mut counting = |piece: Piece<'_>| {
            *kept += size(piece);
            sink(piece);
        };
        let read = read_events(sse, draft, done, bytes, &mut counting);
        draft.emit_kept(&mut counting);
        let read = if *kept > self.limits.answer_bytes { Err(StreamError::TooLong) } else { read };
        read.map_err(|trouble| self.failure(trouble))
    }

    /// Ends the stream, at its end or after a lost connection; returns the reply, if it is complete.
    pub fn finish(mut self, sink: &mut dyn FnMut(Piece<'_>)) -> Result<Reply, Failure> {
        let Self { sse, draft, done, .. } = &mut self;
        let ended = sse.end(&mut |event| add_event(draft, done, event, sink));
        draft.emit_kept(sink);
        match ended {
            // A lost connection often leaves half an event.
            Ok(()) | Err(StreamError::TooLong | StreamError::NotJson(_) | StreamError::Foreign(_)) => {}
            Err(StreamError::Reported(report)) => return Err(self.failure(StreamError::Reported(report))),
        }
        self.draft.flush(sink);
        if !self.is_finished() {
            return Err(self.cut_short());
        }
        let Self { endpoint, draft, .. } = self;
        let first_byte = draft.any_piece();
        draft.finish().map_err(|OutOfResources| {
            let said = "ran out of resources in the middle of the answer.";
            Failure { first_byte, ..endpoint.failure(FailureClass::Transient, said) }
        })
    }

    /// Whether the server declared the end of the stream.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done || self.draft.is_done()
    }

    /// Whether the reply is complete; at most usage may follow. A server may omit the finish reason or the end mark,
    /// but not both.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.draft.is_finished() || (self.done && self.draft.is_finished_by_end_mark())
    }

    /// Whether any piece of the reply has arrived.
    #[must_use]
    pub fn any_piece(&self) -> bool {
        self.draft.any_piece()
    }

    /// Whether the model is still reasoning: a longer silence is then normal.
    #[must_use]
    pub fn is_thinking(&self) -> bool {
        self.draft.is_thinking()
    }

    fn cut_short(&self) -> Failure {
        let (class, said) = if self.draft.is_foreign() {
            let failure = self.endpoint.wrong_address(FailureClass::Protocol, "sent a stream that is not of this API.");
            return Failure { first_byte: self.any_piece(), ..failure };
        } else if self.any_piece() {
            (FailureClass::Transient, "broke off in the middle of the answer.")
        } else {
            (FailureClass::Transient, "closed the connection without an answer.")
        };
        Failure { first_byte: self.any_piece(), ..self.endpoint.failure(class, said) }
    }

    fn failure(&self, trouble: StreamError) -> Failure {
        let failure = match trouble {
            StreamError::TooLong => {
                let said = "sent an answer longer than any reply should be; it was given up.";
                self.endpoint.failure(FailureClass::Protocol, said)
            }
            StreamError::NotJson(start) => {
                let said = format!("sent an event that is not JSON: {}", self.endpoint.quote(&start));
                self.endpoint.failure(FailureClass::Protocol, &said)
            }
            StreamError::Foreign(start) => {
                let said = format!("sent an event that is not of this API: {}", self.endpoint.quote(&start));
                self.endpoint.failure(FailureClass::Protocol, &said)
            }
            StreamError::Reported(report) => classify_report(&self.endpoint, &report),
        };
        Failure { first_byte: self.any_piece(), ..failure }
    }
}

/// Processes the completed events: runs of plain text by the fast path, everything else line by line.
fn read_events<D: WireDraft>(
    sse: &mut Sse,
    draft: &mut D,
    done: &mut bool,
    mut bytes: &[u8],
    sink: &mut dyn FnMut(Piece<'_>),
) -> Result<(), StreamError> {
    while !bytes.is_empty() {
        if sse.is_between_events() && !*done {
            bytes = draft.take_plain(bytes);
        }
        bytes = sse.take(bytes, &mut |event| add_event(draft, done, event, sink))?;
    }
    Ok(())
}

fn size(piece: Piece<'_>) -> usize {
    match piece {
        Piece::Text(text) | Piece::Thinking(text) => text.len(),
        Piece::Call { arguments, .. } => arguments.len(),
    }
}

fn add_event<D: WireDraft>(
    draft: &mut D,
    done: &mut bool,
    event: SseEvent<'_>,
    sink: &mut dyn FnMut(Piece<'_>),
) -> Result<(), StreamError> {
    let data = event.data.trim_ascii();
    if data == b"[DONE]" {
        *done = true;
    }
    if data.is_empty() || *done {
        return Ok(());
    }
    if event.name == b"error" {
        let text = String::from_utf8_lossy(data);
        let said = || ErrorReport { message: text.clone().into_owned(), ..ErrorReport::default() };
        return Err(StreamError::Reported(ErrorReport::read(data).unwrap_or_else(said)));
    }
    // Some servers write half a character into an event; the rest of the reply is still usable.
    let text = std::str::from_utf8(data).map_or_else(|_| String::from_utf8_lossy(data), Cow::Borrowed);
    match draft.add(&text, sink) {
        Err(StreamError::NotJson(_)) if text.contains('\n') => add_lines(draft, done, &text, sink),
        result => result,
    }
}

/// Handles servers that omit the blank lines, so that several events look like one.
fn add_lines<D: WireDraft>(
    draft: &mut D,
    done: &mut bool,
    text: &str,
    sink: &mut dyn FnMut(Piece<'_>),
) -> Result<(), StreamError> {
    text.lines().try_for_each(|line| {
        let event = SseEvent { name: b"", data: line.as_bytes() };
        add_event(draft, done, event, sink)
    })
}
