//! Retrying, forking, undoing, compacting.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use windlass_machine::Force;
use windlass_runtime::{OpenApprovals, UndoError, UndoMode, UndoRequest, fork as fork_session};
use windlass_setup::session_agent::AgentPurpose;
use windlass_store::ForkError;
use windlass_vocab::{RunId, SessionEdit, SessionId, Undoable};

use super::record_number::RecordNumber;
use super::sessions::{SessionSummary, fresh_key};
use super::{Body, Named};
use crate::access::{Caller, SignedIn};
use crate::document::answers::Conflict;
use crate::document::shapes::{SessionInAddress, UndoneThing};
use crate::error::{ApiError, ErrorKind};
use crate::keeping::HeldSession;
use crate::state::HttpServer;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StartedRun {
    #[schema(value_type = u32)]
    run: RunId,
}

/// Starts a new run on the same history, if the last one failed
#[utoipa::path(
    post,
    path = "/api/sessions/{session}/retry",
    tag = "conversation",
    params(SessionInAddress),
    responses((status = 202, description = "The new run", body = StartedRun), Conflict)
)]
pub(crate) async fn retry(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<(StatusCode, Json<StartedRun>), ApiError> {
    let row = state.session(&caller, session).await?;
    let _place = state.accept_work(&caller, row.session)?;
    let built = state.agent(&caller, Some(&row), AgentPurpose::Say).await?;
    let Some((session, _, run)) = built.agent.open_to_retry(row.session).await? else {
        return Err(ApiError::new(ErrorKind::Nothing, "the last run did not fail, so there is nothing to retry"));
    };
    state.keeper.keep(session);
    Ok((StatusCode::ACCEPTED, Json(StartedRun { run })))
}

/// Where to fork.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"at": 3}))]
pub(crate) struct ForkPlace {
    /// The record; absent means the end.
    #[schema(inline)]
    at: Option<RecordNumber>,
}

/// Makes a session that goes on from a record of this one
#[utoipa::path(
    post,
    path = "/api/sessions/{session}/fork",
    tag = "conversation",
    params(SessionInAddress),
    request_body = ForkPlace,
    responses((status = 201, description = "The new session", body = SessionSummary), Conflict)
)]
pub(crate) async fn fork(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Body(place): Body<ForkPlace>,
) -> Result<(StatusCode, Json<SessionSummary>), ApiError> {
    let row = state.session(&caller, session).await?;
    state.refuse_while_draining()?;
    let _room = state.room_for_session(&caller).await?;
    let now = state.clock.now();
    let forked =
        fork_session(state.store().as_ref(), row.session, place.at.map(|RecordNumber(at)| at), &fresh_key(), now).await;
    let forked = forked.map_err(|error| match error {
        ForkError::Store(error) => ApiError::from(error),
        error => ApiError::bad_request(error.to_string()),
    })?;
    let row = state.session(&caller, forked).await?;
    Ok((StatusCode::CREATED, Json(SessionSummary::of(&state, row).await?)))
}

/// What to undo.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"check": true}))]
pub(crate) struct UndoWish {
    /// The call or the earlier undo; absent means the last call that changed files and is not undone.
    #[schema(value_type = Option<UndoneThing>)]
    call: Option<Undoable>,
    /// Whether to say only what would be done.
    #[serde(default)]
    check: bool,
    /// Whether to overwrite later changes.
    #[serde(default)]
    force: bool,
}

/// What an undo did, or would do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UndoResult {
    /// What was undone.
    of: String,
    /// The undo's own name, by which it can be undone; `null` where it was only checked.
    #[schema(required)]
    undo: Option<String>,
    /// The files put back.
    restored: Vec<String>,
    /// The files left as they are, and why.
    kept: Vec<KeptFile>,
    /// Whether an earlier undo was undone.
    redo: bool,
    /// What else the call may have changed.
    #[schema(required)]
    unseen: Option<String>,
}

/// A file that an undo left as it is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeptFile {
    path: String,
    why: String,
}

/// Puts back the files that a call changed
#[utoipa::path(
    post,
    path = "/api/sessions/{session}/undo",
    tag = "conversation",
    params(SessionInAddress),
    request_body = UndoWish,
    responses((status = 200, description = "What was undone, or would be", body = UndoResult), Conflict)
)]
pub(crate) async fn undo(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Body(wish): Body<UndoWish>,
) -> Result<Json<UndoResult>, ApiError> {
    let session = open(&state, &caller, session).await?;
    let request = UndoRequest {
        of: wish.call,
        force: if wish.force { Force::Yes } else { Force::No },
        mode: if wish.check { UndoMode::DryRun } else { UndoMode::Apply },
    };
    let report = session.undo(request).await.map_err(undo_refused)?;
    Ok(Json(UndoResult {
        of: report.of.to_string(),
        undo: report.undo.map(|undo| undo.to_string()),
        restored: report.restored.keys().cloned().collect(),
        kept: report.left_alone.into_iter().map(|(path, why)| KeptFile { path, why }).collect(),
        redo: matches!(report.of, Undoable::Undo(_)),
        unseen: report.unseen,
    }))
}

fn undo_refused(error: UndoError) -> ApiError {
    match error {
        UndoError::Closed(closed) => closed.into(),
        UndoError::Store(error) => error.into(),
        UndoError::RunOpen => ApiError::new(ErrorKind::Busy, error.to_string()),
        UndoError::Conflicts(conflicts) => {
            let paths: Vec<&str> = conflicts.iter().map(|conflict| conflict.conflict.path.as_str()).collect();
            let message = format!("changed since then: {}; nothing was undone", paths.join(", "));
            ApiError::new(ErrorKind::Busy, message).hint("undo the later changes first, or send `force`")
        }
        error => ApiError::new(ErrorKind::Nothing, error.to_string()),
    }
}

/// When a summary is made that was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlannedSummary {
    /// As the next run begins, before it answers.
    #[schema(pattern = "^next_run$")]
    when: &'static str,
}

/// Has the conversation so far summarised before the next run answers
///
/// Only a run calls a model, so nothing is summarised before the next message. The wish is stored until then.
#[utoipa::path(
    post,
    path = "/api/sessions/{session}/compact",
    tag = "conversation",
    params(SessionInAddress),
    responses((status = 202, description = "When it is done", body = PlannedSummary), Conflict)
)]
pub(crate) async fn compact(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<(StatusCode, Json<PlannedSummary>), ApiError> {
    let row = state.session(&caller, session).await?;
    state.check_folder(&row)?;
    state.refuse_while_draining()?;
    if row.runs == 0 {
        return Err(ApiError::new(ErrorKind::Nothing, "nothing was said yet, so there is nothing to summarise"));
    }
    state.edit(row.session, SessionEdit::Compact).await?;
    Ok((StatusCode::ACCEPTED, Json(PlannedSummary { when: "next_run" })))
}

/// Opens a session for something else than a message.
async fn open(state: &HttpServer, caller: &Caller, session: SessionId) -> Result<HeldSession, ApiError> {
    let row = state.session(caller, session).await?;
    let built = state.agent(caller, Some(&row), AgentPurpose::GoOn).await?;
    Ok(state.keeper.hold(built.agent.open_existing(row.session, OpenApprovals::Answered).await?.0))
}
