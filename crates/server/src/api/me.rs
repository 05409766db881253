//! Who the caller is, and what the server would answer with.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use windlass_setup::models::DEMO;

use crate::access::{CallerRole, SignedIn};
use crate::error::ApiError;
use crate::state::HttpServer;

#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    user: String,
    admin: bool,
    version: &'static str,
    /// The model of new sessions; `null` where only the demo model would answer.
    #[schema(required)]
    model: Option<String>,
    demo: bool,
    preset: String,
    folders: Vec<String>,
}

/// Who the caller is, and what new sessions answer with
#[utoipa::path(
    get,
    path = "/api/me",
    tag = "server",
    responses((status = 200, description = "The caller", body = Me))
)]
pub(crate) async fn me(State(state): State<Arc<HttpServer>>, SignedIn(caller): SignedIn) -> Result<Json<Me>, ApiError> {
    let built = state.shown_agent(&caller).await?;
    let demo = built.model.as_str() == DEMO;
    Ok(Json(Me {
        admin: caller.role == CallerRole::Admin,
        user: caller.user,
        version: env!("CARGO_PKG_VERSION"),
        model: (!demo).then(|| built.model.as_str().to_owned()),
        demo,
        preset: built.setup.settings.policy.preset,
        folders: state.folders.iter().map(|folder| folder.display().to_string()).collect(),
    }))
}
