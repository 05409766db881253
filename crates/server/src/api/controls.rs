//! Stopping a run and answering its questions, whichever process drives it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use windlass_runtime::{ControlDelivery, OpenApprovals};
use windlass_setup::session_agent::AgentPurpose;
use windlass_store::SessionRow;
use windlass_vocab::{Answer, Control, ControlOutcome, QuestionId, QuestionOption, SessionId};

use super::rules::{self, AlwaysOutcome};
use super::{Body, Named};
use crate::access::{Caller, SignedIn};
use crate::document::answers::Conflict;
use crate::document::shapes::{QuestionAnswer, QuestionInAddress, SessionInAddress};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// What a stop did.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct StoppedRuns {
    /// How many runs were stopped.
    runs: u32,
    /// How many messages that waited were dropped.
    dropped: u64,
}

/// Stops the run, and drops the messages that wait
#[utoipa::path(
    post,
    path = "/api/sessions/{session}/stop",
    tag = "conversation",
    params(SessionInAddress),
    responses((status = 200, description = "What was stopped", body = StoppedRuns), Conflict)
)]
pub(crate) async fn stop(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<Json<StoppedRuns>, ApiError> {
    let row = state.session(&caller, session).await?;
    match deliver(&state, &caller, &row, Control::Stop {}).await? {
        Some(ControlOutcome::Stopped { runs, dropped }) => Ok(Json(StoppedRuns { runs, dropped })),
        Some(_) | None => Ok(Json(StoppedRuns::default())),
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnswerTaken {
    #[schema(pattern = "^answered$")]
    outcome: &'static str,
    /// What became of an "always"; absent for other answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    always: Option<AlwaysOutcome>,
}

/// Answers a question of the run
#[utoipa::path(
    post,
    path = "/api/sessions/{session}/questions/{question}/answer",
    tag = "conversation",
    params(SessionInAddress, QuestionInAddress),
    request_body = QuestionAnswer,
    responses((status = 200, description = "The answer counts", body = AnswerTaken), Conflict)
)]
pub(crate) async fn answer(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named((session, question)): Named<(SessionId, QuestionId)>,
    Body(answer): Body<Answer>,
) -> Result<Json<AnswerTaken>, ApiError> {
    let row = state.session(&caller, session).await?;
    let is_always = answer.option == QuestionOption::Always;
    let delivered = deliver(&state, &caller, &row, Control::Answer { question, answer }).await?;
    let refused = |kind, message| Err(ApiError::new(kind, message));
    match delivered.unwrap_or(ControlOutcome::RunIsOver {}) {
        ControlOutcome::Answered {} | ControlOutcome::Stopped { .. } | ControlOutcome::Edited {} => {
            let always = if is_always { Some(rules::keep(&state, &caller, &row, question).await) } else { None };
            Ok(Json(AnswerTaken { outcome: "answered", always }))
        }
        ControlOutcome::AlreadyAnswered {} => refused(ErrorKind::AlreadyAnswered, "this question was answered already"),
        ControlOutcome::NotOffered {} => refused(ErrorKind::NotOffered, "this question offers no such answer"),
        ControlOutcome::RunIsOver {} => refused(ErrorKind::RunIsOver, "the run that asked has ended"),
        ControlOutcome::NoSuchQuestion {} => refused(ErrorKind::NotFound, "the session asks no such question"),
    }
}

/// Has the command carried out by whoever drives the session; if nobody does and a run is open, it is resumed for that.
/// `None` where nothing is open.
async fn deliver(
    state: &Arc<HttpServer>,
    caller: &Caller,
    row: &SessionRow,
    control: Control,
) -> Result<Option<ControlOutcome>, ApiError> {
    let busy =
        |message: &str| ApiError { retry_after: Some(2), ..ApiError::new(ErrorKind::Busy, message) }.hint("try again");
    let sent = state.live().control(state.store(), &state.secrets, row.session, control.clone()).await?;
    match sent {
        ControlDelivery::Done(outcome) => return Ok(Some(outcome)),
        ControlDelivery::NobodyThere if !row.status.is_open() => return Ok(None),
        ControlDelivery::NobodyThere | ControlDelivery::OwnerLeft => {}
        ControlDelivery::NoAnswer => return Err(busy("the process that has the session does not react")),
        ControlDelivery::StillAtIt => return Err(busy("the process that has the session is still at it")),
    }
    let built = state.agent(caller, Some(row), AgentPurpose::GoOn).await?;
    let (session, _) = built.agent.open_existing(row.session, OpenApprovals::Answered).await?;
    state.keep_open(session);
    match state.live().control(state.store(), &state.secrets, row.session, control).await? {
        ControlDelivery::Done(outcome) => Ok(Some(outcome)),
        _ => Err(busy("the session was closed meanwhile")),
    }
}
