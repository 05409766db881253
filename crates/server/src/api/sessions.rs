//! Sessions: list, create, read, change, delete.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use windlass_store::{ArchivedFilter, SessionCursor, SessionQuery, SessionRow};
use windlass_vocab::{SessionEdit, SessionId};

use super::{Asked, Body, Named};
use crate::access::SignedIn;
use crate::cleaning::remove_session;
use crate::document::answers::Conflict;
use crate::document::shapes::{SessionInAddress, SessionTitle};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The default and the largest number of sessions in a list.
const LISTED: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);
const MOST_LISTED: NonZeroU32 = NonZeroU32::MIN.saturating_add(999);

/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// The states of a session.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it only describes what is sent")]
enum StatusWord {
    Idle,
    Processing,
    ToolLoop,
    Waiting,
    Failed,
}

/// A session as listed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionSummary {
    #[schema(value_type = String, format = "uuid")]
    id: SessionId,
    /// Its name on the command line.
    key: String,
    #[schema(required)]
    title: Option<String>,
    #[schema(inline, value_type = StatusWord)]
    status: &'static str,
    /// The folder it works in.
    #[schema(required)]
    folder: Option<String>,
    #[schema(format = "date-time")]
    created: String,
    #[schema(format = "date-time")]
    updated: String,
    #[schema(required)]
    last_prompt: Option<String>,
    runs: u32,
    pinned: bool,
    archived: bool,
    owner: String,
    /// `null` where no process has it open.
    #[schema(required)]
    driver: Option<SessionDriver>,
}

/// The word for this server.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HereWord {
    /// This server.
    Here,
}

/// Which process drives a session.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum SessionDriver {
    /// This server: the word `here`.
    Here(HereWord),
    /// Another process that shares the store.
    Elsewhere {
        /// Its id, if it is known.
        #[schema(required)]
        pid: Option<u32>,
    },
}

impl SessionSummary {
    pub(crate) async fn of(state: &HttpServer, row: SessionRow) -> Result<Self, ApiError> {
        let driver = if state.live().has(row.session) {
            Some(SessionDriver::Here(HereWord::Here))
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

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Words that the title, the key or a message has.
    search: Option<String>,
    /// Whether the archived sessions are listed in place of the others.
    #[serde(default)]
    archived: bool,
    /// How many are listed at most.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 4_294_967_295_u32)]
    limit: Option<NonZeroU32>,
    /// Where the page starts: `next` of the one before.
    after: Option<String>,
    /// Whose sessions; absent means the caller's own. Only an admin may ask for those of others.
    owner: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SummaryPage {
    sessions: Vec<SessionSummary>,
    /// Where the next page starts; `null` on the last one.
    #[schema(required)]
    next: Option<String>,
}

/// The caller's sessions: pinned ones first, then the last changed
///
/// The steps of plans are left out.
#[utoipa::path(
    get,
    path = "/api/sessions",
    tag = "sessions",
    params(ListQuery),
    responses((status = 200, description = "A page of the list", body = SummaryPage))
)]
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
    let owner = asked.owner.as_ref().unwrap_or(&caller.user);
    if !caller.may_use(owner) {
        return Err(ApiError::new(ErrorKind::Forbidden, "only an admin may list the sessions of others")
            .hint("leave `owner` out to list your own"));
    }
    let page = state.store().list(owner, query).await?;
    let mut sessions = Vec::with_capacity(page.rows.len());
    for row in page.rows {
        sessions.push(SessionSummary::of(&state, row).await?);
    }
    Ok(Json(SummaryPage { sessions, next: page.next.map(|next| next.to_string()) }))
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"title": "Tidy the notes"}))]
pub(crate) struct NewSession {
    #[schema(value_type = Option<SessionTitle>)]
    title: Option<String>,
    /// The folder it works in: one of the server's.
    #[schema(value_type = Option<String>)]
    folder: Option<PathBuf>,
}

/// Makes a session
#[utoipa::path(
    post,
    path = "/api/sessions",
    tag = "sessions",
    request_body = NewSession,
    responses((status = 201, description = "The session", body = SessionSummary), Conflict)
)]
pub(crate) async fn create(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Body(new): Body<NewSession>,
) -> Result<(StatusCode, Json<SessionSummary>), ApiError> {
    let title = new.title.as_deref().map(checked_title).transpose()?;
    let _room = state.room_for_session(&caller).await?;
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
    format!("page-{}", fresh_suffix())
}

/// Makes up the random end of a name.
pub(crate) fn fresh_suffix() -> String {
    let id = Uuid::now_v7().simple().to_string();
    id[id.len() - 12..].to_owned()
}

/// One session
#[utoipa::path(
    get,
    path = "/api/sessions/{session}",
    tag = "sessions",
    params(SessionInAddress),
    responses((status = 200, description = "The session", body = SessionSummary))
)]
pub(crate) async fn get(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<Json<SessionSummary>, ApiError> {
    let row = state.session(&caller, session).await?;
    Ok(Json(SessionSummary::of(&state, row).await?))
}

/// What to change; what is absent stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"title": "Tidy the notes", "pinned": true}))]
pub(crate) struct SessionPatch {
    #[schema(value_type = Option<SessionTitle>)]
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

/// Renames, pins or archives a session, whichever process drives it
#[utoipa::path(
    patch,
    path = "/api/sessions/{session}",
    tag = "sessions",
    params(SessionInAddress),
    request_body = SessionPatch,
    responses((status = 200, description = "The session as it is now", body = SessionSummary), Conflict)
)]
pub(crate) async fn change(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Body(patch): Body<SessionPatch>,
) -> Result<Json<SessionSummary>, ApiError> {
    let row = state.session(&caller, session).await?;
    state.refuse_while_draining()?;
    for edit in patch.edits()? {
        state.edit(row.session, edit).await?;
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

/// Deletes a session; the audit lines of its calls are kept
///
/// The sessions of its plans' steps are deleted with it.
#[utoipa::path(
    delete,
    path = "/api/sessions/{session}",
    tag = "sessions",
    params(SessionInAddress),
    responses((status = 204, description = "It is gone"), Conflict)
)]
pub(crate) async fn remove(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
) -> Result<StatusCode, ApiError> {
    let row = state.session(&caller, session).await?;
    if state.live().has(row.session) {
        return Err(ApiError::new(ErrorKind::Busy, "a run of this session is open").hint("stop it first"));
    }
    remove_session(&state, &state.store().sessions(&row.owner).await?, &row).await?;
    Ok(StatusCode::NO_CONTENT)
}
