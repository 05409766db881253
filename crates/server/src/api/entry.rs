//! What lets a browser or a terminal in, for whoever has the entry key of `server.json`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Body;
use crate::access::{BrowserEntry, EntryPurpose, bearer};
use crate::document::answers::WrongToken;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryRequest {
    /// Whether a browser opens the address at once, or a person copies it.
    purpose: EntryPurpose,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct IssuedEntry {
    /// The browser opens `/?code=CODE`, once.
    code: String,
    /// For how many seconds it counts.
    seconds: u64,
}

/// Gives out a code that lets a browser in, once
///
/// The token of this request is the entry key that the server has written into its data folder, and no other.
#[utoipa::path(
    post,
    path = "/api/entry",
    tag = "page",
    request_body = EntryRequest,
    responses((status = 200, description = "The code", body = IssuedEntry), WrongToken)
)]
pub(crate) async fn issue(
    State(state): State<Arc<HttpServer>>,
    headers: HeaderMap,
    Body(EntryRequest { purpose }): Body<EntryRequest>,
) -> Result<Json<IssuedEntry>, ApiError> {
    let code = entry_of(&state, &headers)?.issue(purpose).map_err(no_random)?;
    Ok(Json(IssuedEntry { code: code.expose().to_owned(), seconds: purpose.lifetime().as_secs() }))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TerminalToken {
    /// It counts until the server ends.
    #[schema(format = "password")]
    token: String,
}

/// Gives a terminal of the server's own user a token
///
/// The token of this request is the entry key that the server has written into its data folder, and no other.
#[utoipa::path(
    post,
    path = "/api/entry/token",
    tag = "page",
    operation_id = "issue_token",
    responses((status = 200, description = "The token", body = TerminalToken), WrongToken)
)]
pub(crate) async fn issue_token(
    State(state): State<Arc<HttpServer>>,
    headers: HeaderMap,
) -> Result<Json<TerminalToken>, ApiError> {
    let token = entry_of(&state, &headers)?.issue_token().map_err(no_random)?;
    Ok(Json(TerminalToken { token: token.expose().to_owned() }))
}

/// Returns the entry, if the request shows its key.
fn entry_of<'a>(state: &'a HttpServer, headers: &HeaderMap) -> Result<&'a BrowserEntry, ApiError> {
    let entry = state.access.entry().filter(|entry| bearer(headers).is_some_and(|sent| entry.has_key(sent)));
    entry.ok_or_else(|| {
        ApiError::new(ErrorKind::Unauthorized, "this is not the entry key of this server")
            .hint("`windlass open` on the server's machine knows it")
    })
}

fn no_random(error: getrandom::Error) -> ApiError {
    tracing::error!(%error, "nothing random can be made");
    ApiError::new(ErrorKind::Internal, "the server could not make a token").hint("its log says why")
}
