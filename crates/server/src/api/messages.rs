//! Sending a message: answered once it is stored.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use windlass_runtime::{OpenApprovals, SendOutcome, SentMessage};
use windlass_setup::session_agent::AgentPurpose;
use windlass_vocab::{MessageId, RunId, SessionId};

use super::attachments::{SentFile, attached};
use super::{Body, Named};
use crate::access::SignedIn;
use crate::document::answers::Conflict;
use crate::document::shapes::SessionInAddress;
use crate::error::{ApiError, ErrorKind};
use crate::limits::WAITING_MESSAGES;
use crate::state::HttpServer;

/// The longest id of a message, in bytes.
const LONGEST_ID: usize = 200;

/// A message to a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "What does this project do?"}))]
pub(crate) struct NewMessage {
    /// The words; they may be empty where a file comes with them.
    text: String,
    #[serde(default)]
    #[schema(max_items = 20)]
    files: Vec<SentFile>,
    #[serde(default)]
    when_busy: WhenBusy,
}

/// What to do with a message while a run is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WhenBusy {
    /// It waits, or joins the run, as the policy says.
    #[default]
    Queue,
    /// It is refused.
    Refuse,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AcceptedMessage {
    message_id: String,
    /// The run that took it up; `null` while it waits.
    #[schema(required, value_type = Option<u32>)]
    run: Option<RunId>,
    queued: bool,
}

/// Sends a message; it is answered once it is stored
///
/// What follows is read from the session's events. The same `Idempotency-Key` never counts twice.
#[utoipa::path(
    post,
    path = "/api/sessions/{session}/messages",
    tag = "conversation",
    params(
        SessionInAddress,
        ("idempotency-key" = Option<String>, Header, min_length = 1, max_length = 200, pattern = "^[ -~]+$",
            description = "The id of the message; without it the server makes one up")
    ),
    request_body = NewMessage,
    responses((status = 202, description = "The message is stored", body = AcceptedMessage), Conflict)
)]
pub(crate) async fn send(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    headers: HeaderMap,
    Body(message): Body<NewMessage>,
) -> Result<(StatusCode, Json<AcceptedMessage>), ApiError> {
    let message_id = message_id(&headers)?;
    if message.text.trim().is_empty() && message.files.is_empty() {
        return Err(ApiError::bad_request("the message is empty"));
    }
    let row = state.session(&caller, session).await?;
    let _place = state.accept_work(&caller, row.session)?;
    let files = attached(message.files).await?;
    let words = SentMessage { text: message.text, files };
    let built = state.agent(&caller, Some(&row), AgentPurpose::Say).await?;
    let session = built.agent.open_existing(row.session, OpenApprovals::Answered).await?.0;
    let session = state.keeper.hold(session);
    let sent = match message.when_busy {
        WhenBusy::Queue => session.send_if_fewer_wait(WAITING_MESSAGES, message_id.clone(), words).await?,
        WhenBusy::Refuse => session.send_if_idle(message_id.clone(), words).await?,
    };
    let sent = sent.ok_or_else(|| refused(message.when_busy))?;
    let run = match sent {
        SendOutcome::TakenUp(run) | SendOutcome::Known(run) => Some(run),
        SendOutcome::Queued => None,
    };
    let MessageId(message_id) = message_id;
    Ok((StatusCode::ACCEPTED, Json(AcceptedMessage { message_id, run, queued: run.is_none() })))
}

/// Returns why a message was not taken.
fn refused(when_busy: WhenBusy) -> ApiError {
    match when_busy {
        WhenBusy::Refuse => ApiError::new(ErrorKind::Busy, "a run of this session is open")
            .hint("send again when it has ended, or queue it"),
        WhenBusy::Queue => {
            let message = format!("{WAITING_MESSAGES} messages wait in this session, as many as may");
            let error = ApiError::new(ErrorKind::Limited, message);
            ApiError { retry_after: Some(5), ..error }.hint("send again when the run has taken them up, or stop it")
        }
    }
}

fn message_id(headers: &HeaderMap) -> Result<MessageId, ApiError> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(MessageId(Uuid::now_v7().to_string())) };
    match value.to_str() {
        Ok(id) if (1..=LONGEST_ID).contains(&id.len()) => Ok(MessageId(id.to_owned())),
        _ => Err(ApiError::bad_request(format!("an Idempotency-Key has 1 to {LONGEST_ID} visible ASCII characters"))),
    }
}
