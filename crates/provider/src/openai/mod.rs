//! OpenAI Chat Completions: the protocol of OpenAI and DeepSeek, and of local servers such as Ollama, llama.cpp, vLLM
//! and LM Studio.
//!
//! The codec is pure: [`encode`] writes a request, [`ChatStream`] and [`decode_whole`] parse an answer
//! ([`AnswerBody`] detects which of the two it is), [`classify`] interprets a rejection. Only [`OpenAiModel`] and
//! [`list_models`] use the network.

mod answer;
mod attempt;
mod base_url;
mod calls;
mod chunk;
mod classify;
mod config;
mod connection_failure;
mod draft;
mod endpoint;
mod frame;
mod listing;
mod message;
mod report;
mod request;
mod retry_after;
mod scan;
mod stream;
mod wire;
mod wording;

pub use answer::{AnswerBody, decode_whole};
pub use attempt::{OpenAiError, OpenAiModel};
pub use classify::{Rejection, classify};
pub use config::{LengthField, OpenAiConfig, ReasoningReturn, ResponseFormat};
pub use endpoint::Endpoint;
pub use listing::{ListedModel, ListingError, decode_models, list_models};
pub use request::{RequestBody, encode};
pub use retry_after::RetryHeaders;
pub use stream::{AnswerLimits, ChatStream};
