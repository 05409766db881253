//! `GET /api/openapi.json`, and `GET /api/docs`, the page that shows it.

use axum::Extension;
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use utoipa::openapi::OpenApi;

use super::complete;
use crate::page::html;

/// The document as it is sent.
#[derive(Clone)]
pub(crate) struct ServedDocument(Bytes);

impl ServedDocument {
    /// Completes the document of all routes.
    pub(crate) fn of(entries: OpenApi) -> Self {
        // A document is made of text and numbers, which can always be written.
        Self(serde_json::to_vec(&complete(entries)).unwrap_or_default().into())
    }
}

/// This document: every request with what it takes and what it is answered with
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    tag = "operation",
    security(()),
    responses((status = 200, description = "The OpenAPI 3.1 document", body = Object))
)]
pub(crate) async fn openapi(Extension(ServedDocument(text)): Extension<ServedDocument>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// A page that shows this document
#[utoipa::path(
    get,
    path = "/api/docs",
    tag = "operation",
    security(()),
    responses((status = 200, description = "The page; it loads nothing from elsewhere", body = String, content_type = "text/html"))
)]
pub(crate) async fn docs(headers: HeaderMap) -> Response {
    html("api.html", &headers)
}
