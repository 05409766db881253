//! Model calls.
//!
//! The protocol: a [`ModelRequest`] borrows what is to be said; [`Model::attempt`] encodes it at
//! once into bytes it owns and gives back one future, the attempt. Pieces go to the sink as they
//! arrive; the future ends in a whole [`Reply`] or a [`Failure`]. Dropping it ends the call. There is
//! one path for streaming and for whole answers: a whole answer is an attempt without pieces.
//!
//! Retries, chains and waits are the machine's business; an attempt is tried once.

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

use windlass_vocab::{Failure, MaxTokens, Message, OutputSpec, PinnedContext, Reasoning, Reply, StreamIdle, TurnMode};

pub use crate::future::BoxFuture;
pub use crate::http::{HttpClient, HttpConfig, HttpError};
pub use crate::secret::Secret;
pub use crate::segments::Segments;

/// A fragment of a reply, as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Words of the answer.
    Text(&'a str),
    /// Words of the reasoning.
    Thinking(&'a str),
    /// A fragment of a call's arguments; the name comes with the first.
    Call {
        /// The call's place in the reply.
        index: u32,
        /// The tool's name, with the first fragment.
        name: Option<&'a str>,
        /// The fragment.
        arguments: &'a str,
    },
}

/// Where pieces go.
pub type Sink = Box<dyn FnMut(Piece<'_>) + Send>;

/// Whether a reply comes in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// As it is written.
    Streamed,
    /// In one body.
    Whole,
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The static prefix and the offer.
    pub context: &'a PinnedContext,
    /// The history, legal.
    pub history: &'a [Message],
    /// Changes whenever `context` or the start of `history` does; while it is the same, history only grows.
    pub epoch: u64,
    /// The volatile tail: lines for this turn only; may be empty.
    pub tail: &'a str,
    /// What the turn is for.
    pub mode: TurnMode,
    /// Whether pieces are wanted.
    pub delivery: Delivery,
    /// In thousandths; absent means the model's own.
    pub temperature_milli: Option<u32>,
    /// The length limit.
    pub max_tokens: MaxTokens,
    /// How hard to think.
    pub reasoning: Reasoning,
    /// How long the stream may be silent.
    pub idle: StreamIdle,
    /// What the answer must fit, where plain text is not enough (L10).
    pub output: Option<&'a OutputSpec>,
    /// Texts at which the model is to stop; they are not part of the reply.
    pub stop: &'a [&'a str],
}

/// A model that can be called.
pub trait Model: Send + Sync {
    /// Encodes the request and begins nothing until the future is polled. `segments` belongs to one
    /// session and one model, and keeps what was encoded before, so that history is written out once.
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>>;
}
