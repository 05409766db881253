//! The OpenAI wire: agents for any client that speaks it (W3).
//!
//! The protocol: a request names an agent as its model ([`models`]) and carries a whole conversation ([`conversation`]); what
//! would change the answer and is not supported is refused ([`parameters`]). A session is chosen for it ([`session_choice`]),
//! the last message is sent there, and its run is awaited ([`client_run`]). The run's answer is written whole or while it
//! comes ([`answer_text`], [`answer_stream`]), as a chat completion ([`chat`]) or as a response ([`responses`]).
//!
//! Runs of this wire are unattended: what would be asked is denied. Errors have OpenAI's shape ([`error`]).

mod answer_stream;
mod answer_text;
mod chat;
mod chat_request;
mod client_run;
mod content;
mod conversation;
mod error;
mod models;
mod parameters;
mod progress;
mod response_id;
mod responses;
mod responses_request;
mod run_result;
mod session_choice;
mod session_headers;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::error::reshape;
use crate::state::HttpServer;

/// Returns the routes under `/v1`.
pub(crate) fn routes() -> OpenApiRouter<Arc<HttpServer>> {
    OpenApiRouter::new()
        .routes(routes!(models::list))
        .routes(routes!(models::get))
        .routes(routes!(chat::create))
        .routes(routes!(responses::create))
}
