//! The wires: a row for each, with what differs between them. A new wire is a folder with a codec, a kind in
//! [`WireKind`] and a row here.

use std::sync::Arc;

use windlass_vocab::{Failure, Json, Reply};

use crate::ability::WireKind;
use crate::answer_timeouts::AnswerTimeouts;
use crate::chat::draft::ChatDraft;
use crate::chat::request::encode as encode_chat;
use crate::config::ModelConfig;
use crate::future::BoxFuture;
use crate::messages::draft::MessagesDraft;
use crate::messages::request::encode as encode_messages;
use crate::messages::schema::is_accepted;
use crate::model::ModelRequest;
use crate::output_tool::any_schema;
use crate::piece::Sink;
use crate::request_body::RequestBody;
use crate::responses::draft::ResponseDraft;
use crate::responses::request::encode as encode_responses;
use crate::route::{Route, attempt};
use crate::segments::Segments;
use crate::server::client::AccessHeaders;

/// What is particular to a wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelWire {
    /// The path of a model call, below the base URL.
    pub(crate) path: &'static str,
    /// The path of the list of models, below the base URL.
    pub(crate) models_path: &'static str,
    /// The headers with the key and whatever else its servers require.
    pub(crate) access: AccessHeaders,
    /// Writes a request.
    pub(crate) encode: EncodeRequest,
    /// Whether the schema of an answer can be written.
    pub(crate) writes_schema: fn(&Json) -> bool,
    /// Sends a request, and decodes the answer with the wire's own draft.
    pub(crate) attempt: StartAttempt,
}

/// Writes a request, reusing what the segments already hold.
type EncodeRequest = fn(&ModelConfig, &ModelRequest<'_>, &mut Segments) -> Result<RequestBody, Failure>;

/// Sends a request and decodes its answer.
type StartAttempt =
    fn(Arc<Route>, Result<RequestBody, Failure>, AnswerTimeouts, Sink) -> BoxFuture<'static, Result<Reply, Failure>>;

/// Returns the row of a wire.
pub(crate) fn wire(kind: WireKind) -> ModelWire {
    match kind {
        WireKind::Chat => ModelWire {
            path: "chat/completions",
            models_path: "models",
            access: AccessHeaders { key_header: "authorization", before_key: "Bearer ", others: &[] },
            encode: encode_chat,
            writes_schema: any_schema,
            attempt: attempt::<ChatDraft>,
        },
        WireKind::Messages => ModelWire {
            path: "messages",
            // A page has 20 models unless more are asked for.
            models_path: "models?limit=1000",
            access: AccessHeaders {
                key_header: "x-api-key",
                before_key: "",
                others: &[("anthropic-version", "2023-06-01")],
            },
            encode: encode_messages,
            writes_schema: is_accepted,
            attempt: attempt::<MessagesDraft>,
        },
        WireKind::Responses => ModelWire {
            path: "responses",
            models_path: "models",
            access: AccessHeaders { key_header: "authorization", before_key: "Bearer ", others: &[] },
            encode: encode_responses,
            writes_schema: any_schema,
            attempt: attempt::<ResponseDraft>,
        },
    }
}
