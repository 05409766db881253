//! OpenAI Responses: the protocol of OpenAI's newer models, also understood by vLLM, llama.cpp and OpenRouter.
//!
//! The codec is pure: [`encode`] writes a request; [`ResponseDraft`] reads the events of a stream or a whole body.
//! Nothing is kept on the server (`store` is false): every request has the whole history, and what the model alone
//! understands of its reasoning travels with it, encrypted.

pub(crate) mod draft;
mod event;
mod input;
mod item;
mod kept_item;
mod output;
mod parameters;
pub(crate) mod request;

pub use draft::ResponseDraft;
pub use request::encode;
