//! A model that can be called, and what it is asked.

use windlass_vocab::{
    Failure, MaxTokens, Message, ModelName, OutputForm, OutputSpec, PinnedContext, Reasoning, Reply, StreamIdle,
    TurnMode,
};

use crate::future::BoxFuture;
use crate::piece::Sink;
use crate::segments::Segments;

/// How a reply is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In pieces, as it is generated.
    Streamed,
    /// In one body.
    Whole,
}

/// A request to a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The name under which this call is made: signed and opaque parts of the history are sent if they are this model's.
    pub model: &'a ModelName,
    /// The static prefix and the offer.
    pub context: &'a PinnedContext,
    /// The same in every call of a session: a provider can route its calls by it to the cache they share.
    pub cache_key: &'a str,
    /// The conversation, valid for the protocol.
    pub history: &'a [Message],
    /// Changes whenever `context` or the start of `history` does; while it is the same, history only grows.
    pub epoch: u64,
    /// The volatile tail: lines for this turn only; may be empty.
    pub tail: &'a str,
    /// The purpose of the turn.
    pub mode: TurnMode,
    /// Whether to stream.
    pub delivery: Delivery,
    /// In thousandths; absent means the model's default.
    pub temperature_milli: Option<u32>,
    /// The length limit.
    pub max_tokens: MaxTokens,
    /// The reasoning effort.
    pub reasoning: Reasoning,
    /// How long the stream may be silent.
    pub idle: StreamIdle,
    /// The schema the answer must match, where plain text is not enough (L10). It is the same in every turn of a run; a
    /// report and a summary are plain text all the same.
    pub output: Option<&'a OutputSpec>,
    /// The most certain form in which the output may be asked for; the server refused those before it.
    pub output_form: OutputForm,
    /// Stop sequences; they are not part of the reply.
    pub stop: &'a [&'a str],
}

/// A model that can be called.
pub trait Model: Send + Sync {
    /// Encodes the request; nothing is sent until the future is polled. `segments` belongs to one session and one
    /// model, and keeps the encoded history, so that it is encoded only once.
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>>;

    /// Whether it is sent the images of messages and results. Their contents must then be given to its segments before
    /// an attempt ([`Segments::unwritten_images`]).
    fn sees_images(&self) -> bool {
        false
    }
}
