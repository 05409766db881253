//! Stopping a run and answering its questions, whichever process drives it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use windlass_runtime::{ControlDelivery, OpenApprovals, OpenError, StopOutcome};
use windlass_setup::session_agent::AgentPurpose;
use windlass_store::{SessionRow, StoreError};
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
    match deliver(&state, &row, Control::Stop {}).await? {
        Some(ControlOutcome::Stopped { runs, dropped }) => Ok(Json(StoppedRuns { runs, dropped })),
        Some(_) => Ok(Json(StoppedRuns::default())),
        None => Ok(Json(stop_abandoned(&state, &row).await?)),
    }
}

/// Ends the run that a dead process left, in the journal alone: nothing of it is resumed.
async fn stop_abandoned(state: &HttpServer, row: &SessionRow) -> Result<StoppedRuns, ApiError> {
    let store = state.store().as_ref();
    // A session at rest is left alone.
    if !row.status.is_open() && store.waiting(row.session).await?.is_empty() {
        return Ok(StoppedRuns::default());
    }
    match state.live().stop_abandoned(store, &state.secrets, state.clock.as_ref(), row.session).await {
        Ok(StopOutcome { runs, dropped }) => Ok(StoppedRuns { runs, dropped: dropped as u64 }),
        Err(OpenError::Store(StoreError::Busy { .. })) => Err(busy("a process went on with the session meanwhile")),
        Err(error) => Err(error.into()),
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
    let delivered = deliver_answer(&state, &caller, &row, Control::Answer { question, answer }).await?;
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

/// Has the command carried out by whoever drives the session. `None` where nobody does.
async fn deliver(state: &HttpServer, row: &SessionRow, control: Control) -> Result<Option<ControlOutcome>, ApiError> {
    match state.live().control(state.store(), &state.secrets, row.session, control).await? {
        ControlDelivery::Done(outcome) => Ok(Some(outcome)),
        ControlDelivery::NobodyThere | ControlDelivery::OwnerLeft => Ok(None),
        ControlDelivery::NoAnswer => Err(busy("the process that has the session does not react")),
        ControlDelivery::StillAtIt => Err(busy("the process that has the session is still at it")),
    }
}

/// Has a question answered. If nobody drives the session and a run is open, it is resumed for that. `None` where nothing is
/// open.
async fn deliver_answer(
    state: &Arc<HttpServer>,
    caller: &Caller,
    row: &SessionRow,
    control: Control,
) -> Result<Option<ControlOutcome>, ApiError> {
    if let Some(outcome) = deliver(state, row, control.clone()).await? {
        return Ok(Some(outcome));
    }
    if !row.status.is_open() {
        return Ok(None);
    }
    let built = state.agent(caller, Some(row), AgentPurpose::GoOn).await?;
    let (session, _) = built.agent.open_existing(row.session, OpenApprovals::Answered).await?;
    let _run = state.runs.hold(row.session, Some(&row.owner));
    let _held = state.keeper.hold(session);
    let delivered = deliver(state, row, control).await?;
    delivered.map(Some).ok_or_else(|| busy("the session was closed meanwhile"))
}

fn busy(message: &str) -> ApiError {
    ApiError { retry_after: Some(2), ..ApiError::new(ErrorKind::Busy, message) }.hint("try again")
}
