//! Model calls.
//!
//! The protocol: a [`ModelRequest`] borrows what to send; [`Model::attempt`] encodes it at once into bytes it owns
//! and returns one future, the attempt. Pieces go to the sink as they arrive; the future ends in a whole [`Reply`] or
//! a [`Failure`]. Dropping it ends the call. Streaming and whole answers share one path: a whole answer is an attempt
//! without pieces.
//!
//! The machine handles retries, model chains and waits; an attempt is made once.

#![deny(missing_docs)]

mod connection;
mod future;
mod http;
mod idle_pool;
pub mod openai;
mod secret;
mod segments;
mod sse;
mod think;

use windlass_vocab::{
    Failure, MaxTokens, Message, ModelName, OutputSpec, PinnedContext, Reasoning, Reply, StreamIdle, TurnMode,
};

pub use crate::future::BoxFuture;
pub use crate::http::{HttpClient, HttpConfig, HttpError};
pub use crate::secret::Secret;
pub use crate::segments::Segments;

/// A fragment of a reply, as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text of the answer.
    Text(&'a str),
    /// Text of the reasoning.
    Thinking(&'a str),
    /// A fragment of a call's arguments; the first one has the tool's name.
    Call {
        /// The call's position in the reply.
        index: u32,
        /// The tool's name, in the first fragment.
        name: Option<&'a str>,
        /// The fragment.
        arguments: &'a str,
    },
}

/// Receives the pieces.
pub type Sink = Box<dyn FnMut(Piece<'_>) + Send>;

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
    /// The schema the answer must match, where plain text is not enough (L10).
    pub output: Option<&'a OutputSpec>,
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
}
