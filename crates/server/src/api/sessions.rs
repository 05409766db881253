//! Sessions: list, create, read, change, delete.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use windlass_runtime::OpenApprovals;
use windlass_setup::session_agent::AgentPurpose;
use windlass_store::{SessionRow, append_audit, projections};
use windlass_vocab::SessionId;

use super::{Asked, Body, Named};
use crate::access::SignedIn;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The default and the largest number of sessions in a list.
const LISTED: usize = 100;
const MOST_LISTED: usize = 1_000;

/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// A session as listed.
#[derive(Debug, Serialize)]
pub(crate) struct ListedSession {
    id: SessionId,
    key: String,
    title: Option<String>,
    status: &'static str,
    folder: Option<String>,
    created: String,
    updated: String,
    last_prompt: Option<String>,
    runs: u32,
    owner: String,
    /// Absent where no process has it open.
    driver: Option<Driver>,
}

/// Which process drives a session.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Driver {
    /// This server.
    Here,
    /// Another process that shares the store.
    Elsewhere,
}

impl ListedSession {
    pub(crate) async fn of(state: &HttpServer, row: SessionRow) -> Result<Self, ApiError> {
        let driver = if state.live().has(row.session) {
            Some(Driver::Here)
        } else if row.status.is_open() && state.store().is_claimed(row.session).await? {
            Some(Driver::Elsewhere)
        } else {
            None
        };
        Ok(Self {
            id: row.session,
            key: row.key,
            title: row.title,
            status: row.status.as_str(),
            folder: row.workspace,
            created: row.created.to_string(),
            updated: row.updated.to_string(),
            last_prompt: row.last_prompt,
            runs: row.runs,
            owner: row.owner,
            driver,
        })
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct ListQuery {
    search: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SessionListing {
    sessions: Vec<ListedSession>,
}

/// `GET /api/sessions`: the caller's sessions, the last changed first, without the steps of plans.
pub(crate) async fn list(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Asked(query): Asked<ListQuery>,
) -> Result<Json<SessionListing>, ApiError> {
    let mut rows = state.store().sessions(&caller.user).await?;
    let wanted = query.search.unwrap_or_default().to_lowercase();
    rows.retain(|row| row.parent().is_none() && is_found(row, &wanted));
    rows.truncate(query.limit.unwrap_or(LISTED).min(MOST_LISTED));
    let mut sessions = Vec::with_capacity(rows.len());
    for row in rows {
        sessions.push(ListedSession::of(&state, row).await?);
    }
    Ok(Json(SessionListing { sessions }))
}

fn is_found(row: &SessionRow, wanted: &str) -> bool {
    let texts = [Some(&row.key), row.title.as_ref(), row.last_prompt.as_ref(), row.workspace.as_ref()];
    texts.into_iter().flatten().any(|text| text.to_lowercase().contains(wanted))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSession {
    title: Option<String>,
    /// The folder it works in: one of the server's.
    folder: Option<PathBuf>,
}

/// `POST /api/sessions`
pub(crate) async fn create(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Body(new): Body<NewSession>,
) -> Result<(StatusCode, Json<ListedSession>), ApiError> {
    let title = new.title.as_deref().map(checked_title).transpose()?;
    let built = state.agent_in(&caller, new.folder.as_deref()).await?;
    let session = built.agent.open(&fresh_key()).await?;
    if let Some(title) = title {
        session.set_title(title).await?;
    }
    let id = session.id();
    session.close().await;
    let row = state.session(&caller, id).await?;
    Ok((StatusCode::CREATED, Json(ListedSession::of(&state, row).await?)))
}

/// Makes up a key for a session that nobody named.
pub(crate) fn fresh_key() -> String {
    let id = Uuid::now_v7().simple().to_string();
    format!("page-{}", &id[id.len() - 12..])
}

/// `GET /api/sessions/{id}`
pub(crate) async fn get(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<Json<ListedSession>, ApiError> {
    let row = state.session(&caller, session).await?;
    Ok(Json(ListedSession::of(&state, row).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionChange {
    title: Option<String>,
}

/// `PATCH /api/sessions/{id}`
pub(crate) async fn change(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Body(change): Body<SessionChange>,
) -> Result<Json<ListedSession>, ApiError> {
    let row = state.session(&caller, session).await?;
    if let Some(title) = change.title.as_deref().map(checked_title).transpose()? {
        let built = state.agent(&caller, Some(&row), AgentPurpose::GoOn).await?;
        let (session, _) = built.agent.open_existing(row.session, OpenApprovals::Answered).await?;
        session.set_title(title).await?;
        // Opening a session resumes its open run.
        state.keep_open(session);
    }
    let row = state.session(&caller, session).await?;
    Ok(Json(ListedSession::of(&state, row).await?))
}

fn checked_title(title: &str) -> Result<String, ApiError> {
    let title = title.trim();
    if title.is_empty() || title.chars().count() > LONGEST_TITLE || title.chars().any(char::is_control) {
        let message = format!("a title has 1 to {LONGEST_TITLE} characters on one line");
        return Err(ApiError::bad_request(message));
    }
    Ok(title.to_owned())
}

/// `DELETE /api/sessions/{id}`; the audit lines of its calls are kept (T11).
pub(crate) async fn remove(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<StatusCode, ApiError> {
    let row = state.session(&caller, session).await?;
    if state.live().has(row.session) {
        return Err(ApiError::new(ErrorKind::Busy, "a run of this session is open").hint("stop it first"));
    }
    let calls = projections::audit(&state.store().read(row.session, 0).await?);
    if !calls.is_empty() {
        append_audit(&state.agents.place.data_dir.value, &calls)?;
    }
    state.store().remove(row.session).await?;
    Ok(StatusCode::NO_CONTENT)
}
