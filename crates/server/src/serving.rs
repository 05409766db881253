//! The routes, and serving them.

use std::io;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::net::TcpListener;

use crate::access::check;
use crate::api::{changes, controls, health, login, me, messages, records, sessions, settings, transfer, usage};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;
use crate::{events, page};

/// Returns all routes.
pub fn app(state: Arc<HttpServer>) -> Router {
    let session = Router::new()
        .route("/", get(sessions::get).patch(sessions::change).delete(sessions::remove))
        .route("/records", get(records::records))
        .route("/events", get(events::events))
        .route("/messages", post(messages::send))
        .route("/stop", post(controls::stop))
        .route("/questions/{question}/answer", post(controls::answer))
        .route("/retry", post(changes::retry))
        .route("/fork", post(changes::fork))
        .route("/undo", post(changes::undo))
        .route("/compact", post(changes::compact))
        .route("/export", get(transfer::export));
    Router::new()
        .route("/", get(page::index))
        .route("/assets/{*name}", get(page::asset))
        .route("/api/health", get(health::health))
        .route("/api/ready", get(health::ready))
        .route("/api/login", post(login::login))
        .route("/api/me", get(me::me))
        .route("/api/usage", get(usage::usage))
        .route("/api/models", get(settings::models))
        .route("/api/servers", get(settings::servers))
        .route("/api/settings", get(settings::settings))
        .route("/api/sessions", get(sessions::list).post(sessions::create))
        .route("/api/sessions/import", post(transfer::import))
        .nest("/api/sessions/{session}", session)
        .fallback(async || {
            ApiError::new(ErrorKind::NotFound, "there is nothing at this address")
                .hint("GET /api/openapi.json lists what is")
        })
        .method_not_allowed_fallback(async || ApiError::bad_request("this address does not take that method"))
        .layer(DefaultBodyLimit::max(state.limits.body))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), check))
        .with_state(state)
}

/// Serves until `stopping` is done; then requests under way are finished, and nothing new is taken.
pub async fn serve(
    listener: TcpListener,
    state: Arc<HttpServer>,
    stopping: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let drained = Arc::clone(&state);
    let stopping = async move {
        stopping.await;
        drained.begin_drain();
    };
    axum::serve(listener, app(state)).with_graceful_shutdown(stopping).await
}
