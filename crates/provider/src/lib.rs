//! Model calls.
//!
//! The protocol: a [`ModelRequest`] borrows what to send; [`Model::attempt`] encodes it at once into bytes it owns
//! and returns one future, the attempt. Pieces go to the sink as they arrive; the future ends in a whole [`Reply`] or
//! a [`Failure`]. Dropping it ends the call. Streaming and whole answers share one path: a whole answer is an attempt
//! without pieces.
//!
//! The machine handles retries, model chains and waits; an attempt is made once.
//!
//! A wire is a folder with a pure codec: `encode` writes a request, a [`WireDraft`] decodes the answer. Everything else is
//! shared: `answer` reads bodies and streams for any draft, `server` knows addresses, rejections and model lists, and
//! [`HttpModel`] makes the attempt. `wires.rs` has a row for each wire.

#![deny(missing_docs)]

pub mod abilities;
mod ability;
mod answer;
mod answer_timeouts;
mod call_ids;
pub mod chat;
mod config;
mod connection;
mod future;
mod http;
mod http_model;
mod idle_pool;
mod image_contents;
mod images;
mod json_text;
pub mod known_models;
pub mod messages;
mod model;
mod output_tool;
mod piece;
mod prefill;
mod request_body;
pub mod responses;
mod route;
mod secret;
mod segments;
mod server;
mod server_abilities;
pub mod server_kind;
mod sse;
mod think;
mod wires;
mod write_json;

pub use crate::abilities::{
    Abilities, Ability, CallIdForm, LengthField, ReasoningControl, ReasoningReturn, ResponseFormat,
};
pub use crate::ability::WireKind;
pub use crate::answer::body::{AnswerBody, decode_whole};
pub use crate::answer::draft::{OutOfResources, StreamError, WholeError, WireDraft};
pub use crate::answer::stream::{AnswerLimits, AnswerStream};
pub use crate::config::ModelConfig;
pub use crate::future::BoxFuture;
pub use crate::http::{HttpClient, HttpConfig, HttpError};
pub use crate::http_model::HttpModel;
pub use crate::images::largest_image;
pub use crate::model::{Delivery, Model, ModelRequest};
pub use crate::piece::{Piece, Sink};
pub use crate::request_body::RequestBody;
pub use crate::secret::Secret;
pub use crate::segments::Segments;
pub use crate::server::classify::{Rejection, classify};
pub use crate::server::client::ModelConfigError;
pub use crate::server::declared::DeclaredModel;
pub use crate::server::endpoint::Endpoint;
pub use crate::server::listing::{ListedModel, ListingError, decode_models, list_models};
pub use crate::server::pull::{PullError, PullStep, PulledLayer, pull_model};
pub use crate::server::questions::ask_about_model;
pub use crate::server::report::ErrorReport;
pub use crate::server::retry_after::RetryHeaders;
