//! The metrics, for the operator (G3).

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::access::{CallerRole, SignedIn};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// What the server has counted since its start
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operation",
    responses((status = 200, description = "The counts", body = String, content_type = "application/openmetrics-text"))
)]
pub(crate) async fn metrics(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
) -> Result<Response, ApiError> {
    match caller.role {
        CallerRole::Admin => {}
        CallerRole::User => {
            return Err(ApiError::new(ErrorKind::Forbidden, "the metrics are for the operator")
                .hint("send the token that `windlass serve` was started with"));
        }
    }
    let (live, mut queued) = (state.live().by_activity(), 0);
    for session in &live.sessions {
        queued += state.store().waiting(*session).await?.len();
    }
    state.metrics.look_at(&live, queued);
    let text = state.metrics.written().map_err(|error| ApiError::from(std::io::Error::other(error)))?;
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}
