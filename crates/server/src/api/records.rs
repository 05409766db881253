//! Pages of a session's journal, from its end backwards.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use windlass_vocab::SessionId;

use super::{Asked, Named};
use crate::access::SignedIn;
use crate::error::ApiError;
use crate::html::with_html;
use crate::state::HttpServer;

/// The default and the largest number of batches in a page.
const BATCHES: u32 = 100;
const MOST_BATCHES: u32 = 1_000;

#[derive(Debug, Deserialize)]
pub(crate) struct RecordsQuery {
    /// The page ends before this record; absent means the newest.
    before: Option<u64>,
    batches: Option<u32>,
}

/// `GET /api/sessions/{id}/records`: the last batches before a record, in order.
pub(crate) async fn records(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Asked(query): Asked<RecordsQuery>,
) -> Result<Response, ApiError> {
    let row = state.session(&caller, session).await?;
    let before = query.before.unwrap_or(u64::MAX);
    let batches = query.batches.unwrap_or(BATCHES).clamp(1, MOST_BATCHES);
    let records = state.store().read_before(row.session, before, batches).await?;
    let more = records.first().is_some_and(|first| first.seq > 1);
    let mut body = String::from("{\"records\":[");
    for (index, record) in records.iter().enumerate() {
        if index > 0 {
            body.push(',');
        }
        let json = serde_json::to_string(record).map_err(|error| ApiError::bad_request(error.to_string()))?;
        body.push_str(&with_html(&json, record));
    }
    body.push_str(&format!("],\"more\":{more}}}"));
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}
