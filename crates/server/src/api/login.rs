//! A token typed into the page becomes its cookie.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::Body;
use crate::access::SentFrom;
use crate::document::answers::WrongToken;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

#[derive(Deserialize, ToSchema)]
pub(crate) struct Login {
    #[schema(format = "password")]
    token: String,
}

/// Exchanges a token for the cookie of the page
#[utoipa::path(
    post,
    path = "/api/login",
    tag = "page",
    security(()),
    request_body = Login,
    responses(
        (status = 204, description = "The token is right", headers(("set-cookie" = String, description = "The cookie"))),
        WrongToken
    )
)]
pub(crate) async fn login(
    State(state): State<Arc<HttpServer>>,
    SentFrom(address): SentFrom,
    headers: HeaderMap,
    Body(Login { token }): Body<Login>,
) -> Result<Response, ApiError> {
    let token = token.trim();
    let caller = state.access.sign_in(address, token)?;
    let cookie = caller.and_then(|_| state.access.cookie_of(token, &headers));
    let cookie = cookie.ok_or_else(|| {
        ApiError::new(ErrorKind::Unauthorized, "this is not a token of this server")
            .hint("`windlass serve` printed the address with the token when it started")
    })?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}
