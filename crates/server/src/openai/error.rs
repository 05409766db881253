//! Errors in OpenAI's shape: `{"error": {"message", "type", "param", "code"}}`.
//!
//! Requests under `/v1` that are refused before they reach a route of this wire (no token, no such address, too large) get
//! this shape too: [`reshape`] writes their errors again.

use std::borrow::Cow;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use windlass_vocab::{Failure, FailureClass};

use crate::error::{ApiError, ErrorDetails, ErrorKind};

/// Tells OpenAI's clients not to send a request again by themselves.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// What kind of error it is, in OpenAI's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum ErrorType {
    #[serde(rename = "invalid_request_error")]
    InvalidRequest,
    #[serde(rename = "permission_error")]
    Permission,
    #[serde(rename = "rate_limit_error")]
    RateLimit,
    #[serde(rename = "server_error")]
    Server,
}

/// Whether a client may send the same request again by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repetition {
    /// Nothing was done.
    Harmless,
    /// A run was made, and its tools may have acted: another one is for the caller to decide.
    NotUnasked,
}

/// The error of a request.
#[derive(Debug)]
pub(super) struct OpenAiError {
    status: StatusCode,
    kind: ErrorType,
    pub(super) message: String,
    param: Option<Cow<'static, str>>,
    code: Option<&'static str>,
    retry_after: Option<u64>,
    repetition: Repetition,
}

impl OpenAiError {
    fn new(status: StatusCode, kind: ErrorType, message: impl Into<String>) -> Self {
        let repetition = Repetition::Harmless;
        Self { status, kind, message: message.into(), param: None, code: None, retry_after: None, repetition }
    }

    /// Returns the error for a request with a part that can't be used.
    pub(super) fn invalid(param: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::BAD_REQUEST, ErrorType::InvalidRequest, message);
        Self { param: Some(param.into()), ..error }
    }

    /// Returns the error for a parameter whose meaning is not supported.
    pub(super) fn unsupported(param: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::invalid(param, message).code("unsupported_parameter")
    }

    pub(super) fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// Returns the error for a model that this server has not.
    pub(super) fn no_model(named: &str, known: &[String]) -> Self {
        let message = format!("the model `{named}` does not exist; there are: {}", known.join(", "));
        let error = Self::new(StatusCode::NOT_FOUND, ErrorType::InvalidRequest, message);
        Self { param: Some("model".into()), ..error }.code("model_not_found")
    }

    /// Returns the error for a session that can't take the request now.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, ErrorType::InvalidRequest, message).code("session_busy")
    }

    /// Returns the error for a run that somebody stopped.
    pub(super) fn stopped() -> Self {
        let message = "the run was stopped before it had an answer";
        Self::new(StatusCode::CONFLICT, ErrorType::InvalidRequest, message).code("run_cancelled").of_run()
    }

    /// Returns the error for a run that only a person can continue.
    pub(super) fn waits() -> Self {
        let message = "the run waits for a person: answer it at the page, or with `windlass answer`";
        Self::new(StatusCode::CONFLICT, ErrorType::InvalidRequest, message).code("run_waits").of_run()
    }

    /// Returns the error for a stream that can't be continued: what was sent is not the beginning of the answer.
    pub(super) fn replaced() -> Self {
        let message =
            "the model's reply broke off after a part of it was sent, and another one took its place; ask again";
        Self::new(StatusCode::BAD_GATEWAY, ErrorType::Server, message).code("reply_replaced").of_run()
    }

    /// Returns the error for a run that failed.
    pub(super) fn failed(message: &str, failure: Option<&Failure>) -> Self {
        let server = ErrorType::Server;
        let (status, kind, code) = match failure.map(|failure| failure.class) {
            Some(FailureClass::Transient) => (StatusCode::SERVICE_UNAVAILABLE, server, "model_unavailable"),
            Some(FailureClass::Quota) => (StatusCode::TOO_MANY_REQUESTS, ErrorType::RateLimit, "insufficient_quota"),
            Some(FailureClass::Auth) => (StatusCode::BAD_GATEWAY, server, "model_refused_key"),
            Some(FailureClass::BadRequest | FailureClass::Protocol) => {
                (StatusCode::BAD_GATEWAY, server, "model_failed")
            }
            Some(FailureClass::Overflow) => {
                (StatusCode::BAD_REQUEST, ErrorType::InvalidRequest, "context_length_exceeded")
            }
            Some(FailureClass::Filtered) => (StatusCode::BAD_REQUEST, ErrorType::InvalidRequest, "content_filter"),
            Some(FailureClass::Store) => (StatusCode::SERVICE_UNAVAILABLE, server, "store"),
            Some(FailureClass::Internal) | None => (StatusCode::INTERNAL_SERVER_ERROR, server, "run_failed"),
        };
        let message = failure.map_or(message, |failure| &failure.message);
        Self::new(status, kind, message).code(code).of_run()
    }

    /// Marks the error as one of a run that was made.
    pub(super) fn of_run(self) -> Self {
        Self { repetition: Repetition::NotUnasked, ..self }
    }

    /// Returns the code of a failed response: one of the few that the Responses API has.
    pub(super) fn response_code(&self) -> &'static str {
        match self.kind {
            ErrorType::RateLimit => "rate_limit_exceeded",
            ErrorType::InvalidRequest | ErrorType::Permission | ErrorType::Server => "server_error",
        }
    }

    /// Returns the body, which is also the last event of a stream that fails.
    pub(super) fn body(&self) -> serde_json::Value {
        let Self { kind, message, param, code, .. } = self;
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }

    fn of_details(status: StatusCode, details: &ErrorDetails) -> Self {
        let ErrorDetails { kind, message, hint } = details;
        let message = match hint {
            Some(hint) => format!("{message}: {hint}"),
            None => message.clone(),
        };
        let (shape, code) = match kind {
            ErrorKind::Unauthorized => (ErrorType::InvalidRequest, Some("invalid_api_key")),
            ErrorKind::Forbidden => (ErrorType::Permission, None),
            ErrorKind::Limited => (ErrorType::RateLimit, Some("rate_limit_exceeded")),
            ErrorKind::NoModel => (ErrorType::Server, Some("no_model_configured")),
            ErrorKind::Draining => (ErrorType::Server, Some("shutting_down")),
            ErrorKind::Store | ErrorKind::Internal => (ErrorType::Server, None),
            ErrorKind::Busy => (ErrorType::InvalidRequest, Some("session_busy")),
            ErrorKind::BadRequest
            | ErrorKind::NotFound
            | ErrorKind::MethodNotAllowed
            | ErrorKind::AlreadyAnswered
            | ErrorKind::RunIsOver
            | ErrorKind::NotOffered
            | ErrorKind::Nothing
            | ErrorKind::TooLarge
            | ErrorKind::TooSlow => (ErrorType::InvalidRequest, None),
        };
        Self { code, ..Self::new(status, shape, message) }
    }
}

impl From<ApiError> for OpenAiError {
    fn from(error: ApiError) -> Self {
        let (status, retry_after) = (error.kind.status(), error.retry_after);
        Self { retry_after, ..Self::of_details(status, &error.into_details()) }
    }
}

impl IntoResponse for OpenAiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.body())).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.repetition == Repetition::NotUnasked {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        response
    }
}

/// Writes the errors of requests under `/v1` in OpenAI's shape, whoever refused them.
pub(crate) async fn reshape(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_ours = path == "/v1" || path.starts_with("/v1/");
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<ErrorDetails>() {
        Some(details) if is_ours => {
            let (mut parts, _) = response.into_parts();
            let (head, body) = OpenAiError::of_details(parts.status, &details).into_response().into_parts();
            parts.headers.remove(header::CONTENT_LENGTH);
            parts.headers.extend(head.headers);
            Response::from_parts(parts, body)
        }
        Some(_) | None => response,
    }
}
