//! The page: its files are part of the binary.

use std::io::Read as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::access::SentFrom;
use crate::api::{Asked, Named};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// The page's files by name, each compressed with gzip.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// The folder that the page's HTML names its files in: another one as soon as any of them changes.
const VERSION: &str = env!("PAGE_VERSION");

/// A file that changes with the binary: a browser asks each time, and is sent only what it does not have.
const ASK: &str = "no-cache";

/// A file in the folder of its version, which never changes: a browser that has it does not ask again.
const KEEP: &str = "max-age=31536000, immutable";

/// What lets a browser in: the token of the address that `windlass serve` prints, or the code of `windlass open`.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EntryQuery {
    token: Option<String>,
    code: Option<String>,
}

/// The file that the address names.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[expect(dead_code, reason = "it only describes the address")]
struct AssetInAddress {
    /// Its name in the page's folder. The page has the folder of its version before it; such a file is never asked for again.
    #[param(example = "css/base.css")]
    name: String,
}

/// The page
///
/// With a token or an entry code in the address, the browser gets a cookie in its place and is led to the address without it, so
/// that neither is in its history or in a bookmark.
#[utoipa::path(
    get,
    path = "/",
    tag = "page",
    security(()),
    params(EntryQuery),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 303, description = "To the address without token and code"),
        (status = 304, description = "The page is the one that the client has")
    )
)]
pub(crate) async fn index(
    State(state): State<Arc<HttpServer>>,
    SentFrom(address): SentFrom,
    headers: HeaderMap,
    Asked(query): Asked<EntryQuery>,
) -> Response {
    let cookie = match query {
        EntryQuery { token: None, code: None } => return html("index.html", &headers),
        EntryQuery { token: Some(token), .. } => match state.access.sign_in(address, &token) {
            Ok(Some(_)) => state.access.cookie_of(&token, &headers),
            Ok(None) => None,
            Err(refused) => return refused.into_response(),
        },
        EntryQuery { token: None, code: Some(code) } => {
            let page = state.access.entry().and_then(|entry| entry.exchange(&code));
            page.and_then(|page| state.access.cookie_of(page.expose(), &headers))
        }
    };
    let mut response = Redirect::to("/").into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// A file of the page
#[utoipa::path(
    get,
    path = "/assets/{*name}",
    tag = "page",
    security(()),
    params(AssetInAddress),
    responses(
        (status = 200, description = "The file", content(
            (String = "text/css"), (String = "text/javascript"), (String = "text/html"), (String = "image/svg+xml")
        )),
        (status = 304, description = "The file is the one that the client has")
    )
)]
pub(crate) async fn asset(headers: HeaderMap, Named(name): Named<String>) -> Response {
    match name.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('/')) {
        Some(name) => file(name, KEEP, &headers),
        None => file(&name, ASK, &headers),
    }
}

/// Returns the HTML of a page.
pub(crate) fn html(name: &str, asked: &HeaderMap) -> Response {
    file(name, ASK, asked)
}

/// Returns a file of the page. Names are compared with a list, so no name leads anywhere else.
fn file(name: &str, keeping: &'static str, asked: &HeaderMap) -> Response {
    let Some((_, packed)) = FILES.iter().find(|(known, _)| *known == name) else {
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
        (header::VARY, HeaderValue::from_static("accept-encoding")),
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(keeping)),
    ];
    let tag = tag_of(packed);
    if has(asked, &tag) {
        return (StatusCode::NOT_MODIFIED, headers, [(header::ETAG, tag)]).into_response();
    }
    let tag = [(header::ETAG, tag)];
    if takes_gzip(asked) {
        return (StatusCode::OK, headers, tag, [(header::CONTENT_ENCODING, "gzip")], *packed).into_response();
    }
    let mut content = Vec::new();
    match flate2::read::GzDecoder::new(*packed).read_to_end(&mut content) {
        Ok(_) => (StatusCode::OK, headers, tag, content).into_response(),
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// Returns the tag of a file: the same as long as its content is, whether it is sent compressed or not.
fn tag_of(packed: &[u8]) -> String {
    format!("W/\"{}\"", blake3::hash(packed).to_hex())
}

/// Whether the client has the file with this tag.
fn has(headers: &HeaderMap, tag: &str) -> bool {
    let tags = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    tags.split(',').any(|known| known.trim() == tag)
}

/// Whether the client understands gzip; every browser does.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| coding.split(';').next().is_some_and(|coding| coding.trim() == "gzip"))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
    use axum::response::Response;
    use flate2::read::GzDecoder;

    use super::{FILES, VERSION, asset, html};
    use crate::api::Named;

    async fn asked(name: &str, headers: &HeaderMap) -> Response {
        asset(headers.clone(), Named(name.to_owned())).await
    }

    // proves W4: a file that the browser has is not sent again
    #[tokio::test]
    async fn a_file_is_sent_once_until_it_changes() {
        let mut headers = HeaderMap::new();
        let first = asked("js/main.js", &headers).await;
        assert_eq!(first.headers()[header::CACHE_CONTROL], "no-cache");
        let tag = first.headers()[header::ETAG].clone();
        headers.insert(header::IF_NONE_MATCH, tag.clone());
        let again = asked("js/main.js", &headers).await;
        assert_eq!((again.status(), &again.headers()[header::ETAG]), (StatusCode::NOT_MODIFIED, &tag));
        assert_eq!(asked("js/fold.js", &headers).await.status(), StatusCode::OK, "another file has another tag");
        headers.insert(header::IF_NONE_MATCH, HeaderValue::from_static("W/\"old\""));
        assert_eq!(asked("js/main.js", &headers).await.status(), StatusCode::OK);
    }

    // proves W4: who opens a page again asks for its HTML and no file; after an upgrade the HTML names other addresses
    #[tokio::test]
    async fn a_pages_files_are_kept_until_the_page_is_another_version() {
        let headers = HeaderMap::new();
        for page in ["index.html", "api.html"] {
            assert_eq!(html(page, &headers).headers()[header::CACHE_CONTROL], "no-cache", "{page}");
            let mut text = String::new();
            let (_, packed) = FILES.iter().find(|(name, _)| *name == page).unwrap();
            GzDecoder::new(*packed).read_to_string(&mut text).unwrap();
            let files: Vec<&str> = text.split('"').filter_map(|part| part.strip_prefix("/assets/")).collect();
            assert!(files.len() > 3, "{files:?}");
            for file in files {
                assert!(file.starts_with(VERSION), "{file}");
                let kept = asked(file, &headers).await;
                assert_eq!(kept.status(), StatusCode::OK, "{file}");
                assert_eq!(kept.headers()[header::CACHE_CONTROL], "max-age=31536000, immutable", "{file}");
            }
        }
        let other = asked("0123456789abcdef/js/main.js", &headers).await;
        assert_eq!((other.status(), other.headers().get(header::CACHE_CONTROL)), (StatusCode::NOT_FOUND, None));
    }

    // proves W4: the whole page is small, as it is stored and as it is sent
    #[test]
    fn the_page_is_under_150_kb() {
        let bytes: usize = FILES.iter().map(|(_, packed)| packed.len()).sum();
        assert!(bytes < 150_000, "{bytes}");
        for needed in ["index.html", "js/main.js", "js/fold.js", "css/base.css"] {
            assert!(FILES.iter().any(|(name, _)| *name == needed), "{needed}");
        }
        assert!(FILES.iter().all(|(name, _)| !name.starts_with("tests")), "tests are not served");
    }
}
