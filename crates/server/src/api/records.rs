//! Pages of a session's journal, from its end backwards.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;
use windlass_vocab::{Envelope, SessionId};

use super::record_number::RecordNumber;
use super::{Asked, Named};
use crate::access::SignedIn;
use crate::document::shapes::{RecordEnvelope, SessionInAddress};
use crate::error::{ApiError, ErrorKind};
use crate::html::with_html;
use crate::state::HttpServer;

/// The default and the largest number of batches in a page.
const BATCHES: u32 = 100;
const MOST_BATCHES: u32 = 1_000;

/// A page gets no more batches once it has as many bytes, and so many are read at a time.
const ENOUGH: usize = 4 * 1024 * 1024;
const AT_ONCE: u32 = 50;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordsQuery {
    /// The page ends before this record; absent means the newest.
    #[param(inline)]
    before: Option<RecordNumber>,
    /// How many batches at most; a page has fewer if they are large.
    #[param(minimum = 0, maximum = 4_294_967_295_u32)]
    batches: Option<u32>,
}

/// A part of a journal. It is written without this type: records are sent as they are stored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what is sent")]
pub(crate) struct RecordsPage {
    records: Vec<RecordEnvelope>,
    /// Whether there are earlier ones.
    more: bool,
}

/// A page of a session's journal: the last batches before a record, in order
#[utoipa::path(
    get,
    path = "/api/sessions/{session}/records",
    tag = "conversation",
    params(SessionInAddress, RecordsQuery),
    responses((status = 200, description = "The records", body = RecordsPage))
)]
pub(crate) async fn records(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Asked(query): Asked<RecordsQuery>,
) -> Result<Response, ApiError> {
    let row = state.session(&caller, session).await?;
    let before = query.before.map_or(u64::MAX, |RecordNumber(before)| before);
    let batches = query.batches.unwrap_or(BATCHES).clamp(1, MOST_BATCHES);
    let body = page_before(&state, row.session, before, batches).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Returns the page as it is sent: it is written from its end backwards, until it has enough.
async fn page_before(
    state: &HttpServer,
    session: SessionId,
    mut before: u64,
    batches: u32,
) -> Result<String, ApiError> {
    let (mut parts, mut bytes, mut left) = (Vec::new(), 0, batches);
    while left > 0 && bytes < ENOUGH && before > 1 {
        let records = state.store().read_before(session, before, left.min(AT_ONCE)).await?;
        let Some(first) = records.first() else { break };
        (before, left) = (first.seq, left.saturating_sub(AT_ONCE));
        // The HTML of long answers takes a while, which must not hold up other requests.
        let written = tokio::task::spawn_blocking(move || written(&records)).await;
        let part = written.map_err(std::io::Error::other).flatten().map_err(|error| {
            tracing::error!(%error, "a page of records can't be made");
            ApiError::new(ErrorKind::Internal, "the records can't be sent")
        })?;
        bytes += part.len();
        parts.push(part);
    }
    parts.reverse();
    let more = !parts.is_empty() && before > 1;
    Ok(format!("{{\"records\":[{}],\"more\":{more}}}", parts.join(",")))
}

/// Returns the records as they are sent, with commas between them.
fn written(records: &[Envelope]) -> std::io::Result<String> {
    let mut text = String::new();
    for record in records {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&with_html(&serde_json::to_string(record)?, record));
    }
    Ok(text)
}
