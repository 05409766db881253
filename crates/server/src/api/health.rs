//! Whether the server lives, and whether it takes work: for supervisors, without a token.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::document::answers::Unavailable;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    status: &'static str,
    version: &'static str,
}

const WELL: Health = Health { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// Whether the process answers
#[utoipa::path(
    get,
    path = "/api/health",
    tag = "operation",
    security(()),
    responses((status = 200, description = "It does", body = Health))
)]
pub(crate) async fn health() -> Json<Health> {
    Json(WELL)
}

/// Whether the store can be read and new work is taken
#[utoipa::path(
    get,
    path = "/api/ready",
    tag = "operation",
    security(()),
    responses((status = 200, description = "It is", body = Health), Unavailable)
)]
pub(crate) async fn ready(State(state): State<Arc<HttpServer>>) -> Result<Json<Health>, ApiError> {
    state.refuse_while_draining()?;
    if state.store().loss().is_some() {
        return Err(ApiError::new(ErrorKind::Store, "stored data is missing; nothing is written")
            .hint("`windlass doctor` on the server says what to do"));
    }
    state.store().find("", "").await?;
    Ok(Json(WELL))
}
