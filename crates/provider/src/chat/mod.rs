//! OpenAI Chat Completions: the protocol of OpenAI and DeepSeek, and of local servers such as Ollama, llama.cpp, vLLM
//! and LM Studio.
//!
//! The codec is pure: [`encode`] writes a request, [`ChatDraft`] decodes an answer.

mod calls;
mod chunk;
pub(crate) mod draft;
mod frame;
mod message;
pub(crate) mod request;
mod scan;
mod wire;

use crate::answer::stream::AnswerStream;

pub use draft::ChatDraft;
pub use request::encode;

/// A streamed answer of this wire.
pub type ChatStream = AnswerStream<ChatDraft>;
