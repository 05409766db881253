//! Anthropic Messages.
//!
//! The codec is pure: [`encode`] writes a request, [`MessagesDraft`] decodes an answer.

mod block;
pub(crate) mod draft;
mod event;
mod marks;
mod message;
mod parameters;
pub(crate) mod request;
pub(crate) mod schema;
mod usage;

use crate::answer::stream::AnswerStream;

pub use draft::MessagesDraft;
pub use request::encode;

/// A streamed answer of this wire.
pub type MessagesStream = AnswerStream<MessagesDraft>;
