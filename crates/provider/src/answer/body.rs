//! The body of a successful answer, streamed or whole.
//!
//! Neither the request nor the headers are reliable: a server may answer a stream request with one JSON body, or the
//! other way round. The first bytes decide.

use std::sync::Arc;

use windlass_vocab::{Failure, FailureClass, Reply};

use super::draft::{WholeError, WireDraft};
use super::stream::{AnswerLimits, AnswerStream};
use crate::piece::Piece;
use crate::server::classify::{WEB_PAGE, classify_report, looks_like_a_web_page};
use crate::server::endpoint::Endpoint;

/// The first byte of a byte order mark in UTF-8.
const BYTE_ORDER_MARK: u8 = 0xEF;

/// The first bytes of gzip data.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// The body of an answer received so far.
#[derive(Clone, Debug)]
pub struct AnswerBody<D> {
    endpoint: Arc<Endpoint>,
    limits: AnswerLimits,
    form: BodyForm<D>,
}

#[derive(Clone, Debug)]
enum BodyForm<D> {
    /// Nothing but white space so far.
    Unknown,
    /// A stream of events.
    Stream(Box<AnswerStream<D>>),
    /// One body, a web page, or anything else.
    Whole(Vec<u8>),
}

impl<D: WireDraft> AnswerBody<D> {
    /// Returns an empty body.
    #[must_use]
    pub fn new(endpoint: Arc<Endpoint>, limits: AnswerLimits) -> Self {
        Self { endpoint, limits, form: BodyForm::Unknown }
    }

    /// Adds bytes, cut anywhere; pieces of a stream go to `sink`.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Piece<'_>)) -> Result<(), Failure> {
        if let BodyForm::Unknown = self.form {
            let Some(first) = bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace()) else { return Ok(()) };
            // A line of a stream begins with `data`, `event`, `id`, `retry` or a colon. A byte order mark before JSON
            // needs no case of its own: the stream parser accepts `{` lines too.
            self.form = match first {
                b'd' | b'e' | b'i' | b'r' | b':' | BYTE_ORDER_MARK => {
                    BodyForm::Stream(Box::new(AnswerStream::new(self.endpoint.clone(), self.limits)))
                }
                _ => BodyForm::Whole(Vec::new()),
            };
        }
        match &mut self.form {
            BodyForm::Unknown => Ok(()),
            BodyForm::Stream(stream) => stream.push(bytes, sink),
            BodyForm::Whole(body) if body.len() + bytes.len() > self.limits.answer_bytes => {
                let said = "sent an answer longer than any reply should be; it was given up.";
                Err(self.endpoint.failure(FailureClass::Protocol, said))
            }
            BodyForm::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Ends the body; returns the reply, if it is complete.
    pub fn finish(self, sink: &mut dyn FnMut(Piece<'_>)) -> Result<Reply, Failure> {
        match self.form {
            BodyForm::Unknown => {
                let said = "gave an answer with nothing in it.";
                Err(self.endpoint.failure(FailureClass::Transient, said))
            }
            BodyForm::Stream(stream) => stream.finish(sink),
            BodyForm::Whole(body) => decode_whole::<D>(&self.endpoint, &body),
        }
    }

    /// Whether the server declared the end of the stream.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(&self.form, BodyForm::Stream(stream) if stream.is_done())
    }

    /// Whether the reply is complete; at most usage may follow.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(&self.form, BodyForm::Stream(stream) if stream.is_finished())
    }

    /// Whether only reasoning has arrived so far.
    #[must_use]
    pub fn is_thinking(&self) -> bool {
        matches!(&self.form, BodyForm::Stream(stream) if stream.is_thinking())
    }

    /// Whether any piece of the reply has arrived.
    #[must_use]
    pub fn any_piece(&self) -> bool {
        matches!(&self.form, BodyForm::Stream(stream) if stream.any_piece())
    }
}

/// Decodes the reply of a body that is not a stream.
pub fn decode_whole<D: WireDraft>(endpoint: &Endpoint, body: &[u8]) -> Result<Reply, Failure> {
    if looks_like_a_web_page(body) {
        return Err(endpoint.wrong_address(FailureClass::Protocol, &format!("{WEB_PAGE}.")));
    }
    if body.starts_with(&GZIP) {
        let said = "sent its answer compressed, which nobody asked for; a proxy may stand between.";
        return Err(endpoint.failure(FailureClass::Protocol, said));
    }
    let text = String::from_utf8_lossy(body);
    D::read_whole(&text).map_err(|error| match error {
        WholeError::BrokenOff => endpoint.failure(FailureClass::Transient, "broke off in the middle of the answer."),
        WholeError::Foreign => foreign(endpoint, &text),
        WholeError::Reported(report) => classify_report(endpoint, &report),
        WholeError::OutOfResources => {
            endpoint.failure(FailureClass::Transient, "ran out of resources in the middle of the answer.")
        }
    })
}

fn foreign(endpoint: &Endpoint, text: &str) -> Failure {
    let start = endpoint.quote(&text[..text.floor_char_boundary(8192)]);
    endpoint.wrong_address(FailureClass::Protocol, &format!("gave an answer that is not of this API: {start}."))
}
