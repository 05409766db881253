//! Stopping a run and answering its questions, whichever process drives it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use windlass_runtime::{ControlDelivery, OpenApprovals};
use windlass_setup::session_agent::AgentPurpose;
use windlass_store::SessionRow;
use windlass_vocab::{Answer, Control, ControlOutcome, QuestionId, SessionId};

use super::{Body, Named};
use crate::access::{Caller, SignedIn};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// What a stop did.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StoppedRuns {
    runs: u32,
    dropped: u64,
}

/// `POST /api/sessions/{id}/stop`
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

#[derive(Debug, Serialize)]
pub(crate) struct AnswerTaken {
    outcome: &'static str,
}

/// `POST /api/sessions/{id}/questions/{question}/answer`
pub(crate) async fn answer(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named((session, question)): Named<(SessionId, QuestionId)>,
    Body(answer): Body<Answer>,
) -> Result<Json<AnswerTaken>, ApiError> {
    let row = state.session(&caller, session).await?;
    let delivered = deliver(&state, &caller, &row, Control::Answer { question, answer }).await?;
    let refused = |kind, message| Err(ApiError::new(kind, message));
    match delivered.unwrap_or(ControlOutcome::RunIsOver {}) {
        ControlOutcome::Answered {} | ControlOutcome::Stopped { .. } | ControlOutcome::Edited {} => {
            Ok(Json(AnswerTaken { outcome: "answered" }))
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
