//! The headers about sessions: a request may name one, and an answer says which session and run it is from.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use windlass_vocab::{RunId, SessionId};

use super::error::OpenAiError;

const SESSION: HeaderName = HeaderName::from_static("x-windlass-session");
const RUN: HeaderName = HeaderName::from_static("x-windlass-run");

/// The header by which a request names a session, as the document describes it.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only describes the header")]
pub(super) struct SessionInHeader {
    /// The key or the id of the session to go on with.
    #[param(rename = "X-Windlass-Session", required = false)]
    session: Option<String>,
}

/// Returns the session that a request names.
pub(super) fn session_named(headers: &HeaderMap) -> Result<Option<String>, OpenAiError> {
    let Some(value) = headers.get(SESSION) else { return Ok(None) };
    match value.to_str() {
        Ok(name) if !name.trim().is_empty() => Ok(Some(name.trim().to_owned())),
        Ok(_) | Err(_) => {
            let message = "X-Windlass-Session is not the name of a session: send its key or its id";
            Err(OpenAiError::invalid("X-Windlass-Session", message))
        }
    }
}

/// Adds the session and the run to an answer.
pub(super) fn with_session(mut response: Response, SessionId(session): SessionId, RunId(run): RunId) -> Response {
    let headers = response.headers_mut();
    if let Ok(session) = HeaderValue::from_str(&session.to_string()) {
        headers.insert(SESSION, session);
    }
    headers.insert(RUN, HeaderValue::from(run));
    response
}
