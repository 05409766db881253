//! A token typed into the page becomes its cookie.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::Body;
use crate::access::cookie_of;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

#[derive(Deserialize)]
pub(crate) struct Login {
    token: String,
}

/// `POST /api/login`
pub(crate) async fn login(
    State(state): State<Arc<HttpServer>>,
    Body(Login { token }): Body<Login>,
) -> Result<Response, ApiError> {
    let token = token.trim();
    let cookie = state.access.holder_of(token).and_then(|_| cookie_of(token));
    let cookie = cookie.ok_or_else(|| {
        ApiError::new(ErrorKind::Unauthorized, "this is not a token of this server")
            .hint("`windlass serve` printed the address with the token when it started")
    })?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}
