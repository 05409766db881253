//! Sessions: list, create, read, change, delete.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use windlass_runtime::ControlDelivery;
use windlass_store::{ArchivedFilter, SessionCursor, SessionQuery, SessionRow, append_audit, projections};
use windlass_vocab::{SessionEdit, SessionId};

use super::{Asked, Body, Named};
use crate::access::SignedIn;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The default and the largest number of sessions in a list.
const LISTED: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);
const MOST_LISTED: NonZeroU32 = NonZeroU32::MIN.saturating_add(999);

/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// A session as listed.
#[derive(Debug, Serialize)]
pub(crate) struct SessionSummary {
    id: SessionId,
    key: String,
    title: Option<String>,
    status: &'static str,
    folder: Option<String>,
    created: String,
    updated: String,
    last_prompt: Option<String>,
    runs: u32,
    pinned: bool,
    archived: bool,
    owner: String,
    /// Absent where no process has it open.
    driver: Option<SessionDriver>,
}

/// Which process drives a session.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum SessionDriver {
    /// This server: the word `here`.
    Here(&'static str),
    /// Another process that shares the store.
    Elsewhere {
        /// Its id, if it is known.
        pid: Option<u32>,
    },
}

impl SessionSummary {
    pub(crate) async fn of(state: &HttpServer, row: SessionRow) -> Result<Self, ApiError> {
        let driver = if state.live().has(row.session) {
            Some(SessionDriver::Here("here"))
        } else if row.status.is_open() {
            state.store().holder(row.session).await?.map(|holder| SessionDriver::Elsewhere { pid: holder.process })
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
            pinned: row.pinned,
            archived: row.archived.is_some(),
            owner: row.owner,
            driver,
        })
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct ListQuery {
    search: Option<String>,
    /// Whether the archived sessions are listed in place of the others.
    #[serde(default)]
    archived: bool,
    limit: Option<NonZeroU32>,
    after: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SummaryPage {
    sessions: Vec<SessionSummary>,
    /// Where the next page starts; absent on the last one.
    next: Option<String>,
}

/// `GET /api/sessions`: the caller's sessions, pinned ones first, then the last changed, without the steps of plans.
pub(crate) async fn list(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Asked(asked): Asked<ListQuery>,
) -> Result<Json<SummaryPage>, ApiError> {
    let after = asked.after.map(|text| text.parse::<SessionCursor>());
    let query = SessionQuery {
        search: asked.search,
        archived: if asked.archived { ArchivedFilter::Only } else { ArchivedFilter::LeftOut },
        after: after.transpose().map_err(|error| ApiError::bad_request(error.to_string()))?,
        limit: asked.limit.unwrap_or(LISTED).min(MOST_LISTED),
        ..SessionQuery::default()
    };
    let page = state.store().list(&caller.user, query).await?;
    let mut sessions = Vec::with_capacity(page.rows.len());
    for row in page.rows {
        sessions.push(SessionSummary::of(&state, row).await?);
    }
    Ok(Json(SummaryPage { sessions, next: page.next.map(|next| next.to_string()) }))
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
) -> Result<(StatusCode, Json<SessionSummary>), ApiError> {
    let title = new.title.as_deref().map(checked_title).transpose()?;
    let built = state.agent_in(&caller, new.folder.as_deref()).await?;
    let session = built.agent.open(&fresh_key()).await?;
    if let Some(title) = title {
        session.set_title(title).await?;
    }
    let id = session.id();
    session.close().await;
    let row = state.session(&caller, id).await?;
    Ok((StatusCode::CREATED, Json(SessionSummary::of(&state, row).await?)))
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
) -> Result<Json<SessionSummary>, ApiError> {
    let row = state.session(&caller, session).await?;
    Ok(Json(SessionSummary::of(&state, row).await?))
}

/// What to change; what is absent stays as it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionPatch {
    title: Option<String>,
    pinned: Option<bool>,
    archived: Option<bool>,
}

impl SessionPatch {
    fn edits(self) -> Result<Vec<SessionEdit>, ApiError> {
        let title = self.title.as_deref().map(checked_title).transpose()?.map(SessionEdit::Title);
        let pinned = self.pinned.map(|pinned| if pinned { SessionEdit::Pin } else { SessionEdit::Unpin });
        let archived = self.archived.map(|gone| if gone { SessionEdit::Archive } else { SessionEdit::Unarchive });
        Ok([title, pinned, archived].into_iter().flatten().collect())
    }
}

/// `PATCH /api/sessions/{id}`, whichever process drives it.
pub(crate) async fn change(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Body(patch): Body<SessionPatch>,
) -> Result<Json<SessionSummary>, ApiError> {
    let row = state.session(&caller, session).await?;
    for edit in patch.edits()? {
        let clock = state.clock.as_ref();
        match state.live().edit(state.store(), &state.secrets, clock, row.session, edit).await? {
            ControlDelivery::Done(_) => {}
            ControlDelivery::NobodyThere
            | ControlDelivery::OwnerLeft
            | ControlDelivery::NoAnswer
            | ControlDelivery::StillAtIt => {
                let error = ApiError::new(ErrorKind::Busy, "the process that has the session does not react");
                return Err(ApiError { retry_after: Some(2), ..error });
            }
        }
    }
    let row = state.session(&caller, session).await?;
    Ok(Json(SessionSummary::of(&state, row).await?))
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
