//! The page: its files are part of the binary.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::access::cookie_of;
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The page's files by name, in the order of `web/`.
pub(crate) static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The token of the address that `windlass serve` prints.
#[derive(Debug, Deserialize)]
pub(crate) struct PageQuery {
    token: Option<String>,
}

/// `GET /`: the page. With a valid token in the address, the browser gets a cookie in its place and is led to the address
/// without it, so that the token is neither in its history nor in a bookmark.
pub(crate) async fn index(State(state): State<Arc<HttpServer>>, Query(query): Query<PageQuery>) -> Response {
    let Some(token) = query.token else { return file("index.html") };
    let mut response = Redirect::to("/").into_response();
    if let Some(cookie) = state.access.holder_of(&token).and_then(|_| cookie_of(&token)) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// `GET /assets/{name}`
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    file(&name)
}

/// Returns a file of the page. Names are compared with a list, so no name leads anywhere else.
fn file(name: &str) -> Response {
    let Some((_, content)) = FILES.iter().find(|(known, _)| *known == name) else {
        return ApiError::new(ErrorKind::NotFound, "there is no such file").into_response();
    };
    let media_type = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        // The files change with the binary: a browser asks each time, on a connection that is there anyway.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (StatusCode::OK, headers, *content).into_response()
}
