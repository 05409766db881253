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

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordsQuery {
    /// The page ends before this record; absent means the newest.
    #[param(inline)]
    before: Option<RecordNumber>,
    /// How many batches at most.
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
    let records = state.store().read_before(row.session, before, batches).await?;
    // The HTML of a thousand long answers takes a while, which must not hold up other requests.
    let made = tokio::task::spawn_blocking(move || page_of(&records)).await;
    let body = made.map_err(std::io::Error::other).flatten().map_err(|error| {
        tracing::error!(%error, "a page of records can't be made");
        ApiError::new(ErrorKind::Internal, "the records can't be sent")
    })?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Returns the page as it is sent.
fn page_of(records: &[Envelope]) -> std::io::Result<String> {
    let more = records.first().is_some_and(|first| first.seq > 1);
    let mut body = String::from("{\"records\":[");
    for (index, record) in records.iter().enumerate() {
        if index > 0 {
            body.push(',');
        }
        body.push_str(&with_html(&serde_json::to_string(record)?, record));
    }
    body.push_str(&format!("],\"more\":{more}}}"));
    Ok(body)
}
