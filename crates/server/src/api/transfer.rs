//! Sessions as files: export and import (J8).

use std::io::BufReader;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use windlass_runtime::{ImportOptions, import as import_session};
use windlass_store::{ExportError, ImportError, export as export_session};
use windlass_vocab::SessionId;

use super::Named;
use super::sessions::{SessionSummary, fresh_key};
use crate::access::SignedIn;
use crate::document::answers::Conflict;
use crate::document::shapes::{JournalLines, SessionInAddress};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The journal of a session as JSON lines
#[utoipa::path(
    get,
    path = "/api/sessions/{session}/export",
    tag = "sessions",
    params(SessionInAddress),
    responses((status = 200, description = "The journal", body = JournalLines, content_type = "application/jsonl"))
)]
pub(crate) async fn export(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<Response, ApiError> {
    let row = state.session(&caller, session).await?;
    let mut out = Vec::new();
    export_session(state.store().as_ref(), row.session, &mut out).await.map_err(|error| match error {
        ExportError::Store(error) => ApiError::from(error),
        error => ApiError::new(ErrorKind::Store, error.to_string()),
    })?;
    let headers = [
        (header::CONTENT_TYPE, "application/jsonl".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}.jsonl\"", row.session)),
    ];
    Ok((headers, out).into_response())
}

/// Takes in an exported session
///
/// It then belongs to the caller and works in the server's folder, with no permissions and no open run.
#[utoipa::path(
    post,
    path = "/api/sessions/import",
    tag = "sessions",
    request_body(content((JournalLines = "application/jsonl"), (JournalLines = "text/plain"))),
    responses((status = 201, description = "The session", body = SessionSummary), Conflict)
)]
pub(crate) async fn import(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    body: Bytes,
) -> Result<(StatusCode, Json<SessionSummary>), ApiError> {
    let _room = state.room_for_session(&caller).await?;
    let workspace = state.folders.first().map(|folder| folder.display().to_string());
    let arrival = ImportOptions { owner: caller.user.clone(), key: Some(fresh_key()), workspace };
    let arrived = import_session(state.store().as_ref(), &mut BufReader::new(&*body), arrival, state.clock.now()).await;
    let arrived = arrived.map_err(|error| match error {
        ImportError::Store(error) => ApiError::from(error),
        error => ApiError::bad_request(error.to_string()),
    })?;
    let row = state.session(&caller, arrived.session).await?;
    Ok((StatusCode::CREATED, Json(SessionSummary::of(&state, row).await?)))
}
