//! Errors of requests: a status, a kind for programs, a sentence and what to do for people.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use windlass_runtime::{OpenError, SessionClosed};
use windlass_setup::session_agent::SessionAgentError;
use windlass_setup::settings::SettingsError;
use windlass_store::StoreError;

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorKind {
    /// The request can't be understood.
    BadRequest,
    /// No token, or a wrong one.
    Unauthorized,
    /// The caller may not do this, or the request comes from another site.
    Forbidden,
    /// There is no such thing, or it is somebody else's.
    NotFound,
    /// The address does not take this method.
    MethodNotAllowed,
    /// The session is at work, or another process has it.
    Busy,
    /// The question was answered already.
    AlreadyAnswered,
    /// The run that asked has ended.
    RunIsOver,
    /// The question offers no such answer.
    NotOffered,
    /// Nothing is there to be done: nothing to retry, nothing to undo.
    Nothing,
    /// The body is too large.
    TooLarge,
    /// The body came too slowly.
    TooSlow,
    /// Too many requests, sessions or runs.
    Limited,
    /// No model is configured.
    NoModel,
    /// The server is being shut down.
    Draining,
    /// The store failed.
    Store,
    /// A fault of the server.
    Internal,
}

impl ErrorKind {
    /// Every kind.
    pub(crate) const ALL: &[Self] = &[
        Self::BadRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Busy,
        Self::AlreadyAnswered,
        Self::RunIsOver,
        Self::NotOffered,
        Self::Nothing,
        Self::TooLarge,
        Self::TooSlow,
        Self::Limited,
        Self::NoModel,
        Self::Draining,
        Self::Store,
        Self::Internal,
    ];

    /// Returns the kind as it is sent.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Busy => "busy",
            Self::AlreadyAnswered => "already_answered",
            Self::RunIsOver => "run_is_over",
            Self::NotOffered => "not_offered",
            Self::Nothing => "nothing",
            Self::TooLarge => "too_large",
            Self::TooSlow => "too_slow",
            Self::Limited => "limited",
            Self::NoModel => "no_model",
            Self::Draining => "draining",
            Self::Store => "store",
            Self::Internal => "internal",
        }
    }

    /// Returns what the kind means, for the OpenAPI document.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::BadRequest => "The request can't be understood.",
            Self::Unauthorized => "There is no token, or a wrong one.",
            Self::Forbidden => "The caller may not do this, or the request comes from another site.",
            Self::NotFound => "There is no such thing, or it is somebody else's.",
            Self::MethodNotAllowed => "The address does not take this method.",
            Self::Busy => "The session is at work, or another process has it.",
            Self::AlreadyAnswered => "The question was answered already.",
            Self::RunIsOver => "The run that asked has ended.",
            Self::NotOffered => "The question offers no such answer.",
            Self::Nothing => "There is nothing to be done.",
            Self::TooLarge => "The body is too large.",
            Self::TooSlow => "The body did not arrive in time.",
            Self::Limited => "Too many requests, sessions or runs; `Retry-After` says when to try again.",
            Self::NoModel => "No model is configured.",
            Self::Draining => "The server is being shut down.",
            Self::Store => "The server's store failed.",
            Self::Internal => "A fault of the server.",
        }
    }

    pub(crate) const fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Busy | Self::AlreadyAnswered | Self::RunIsOver | Self::NotOffered | Self::Nothing => {
                StatusCode::CONFLICT
            }
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Limited => StatusCode::TOO_MANY_REQUESTS,
            Self::NoModel | Self::Draining | Self::Store => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The error of a request.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) hint: Option<Cow<'static, str>>,
    /// After how many seconds the request may succeed.
    pub(crate) retry_after: Option<u64>,
}

impl ApiError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, retry_after: None }
    }

    pub(crate) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn no_session() -> Self {
        Self::new(ErrorKind::NotFound, "there is no such session").hint("GET /api/sessions lists your sessions")
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, message)
    }

    /// Returns what it says.
    pub(crate) fn into_details(self) -> ErrorDetails {
        ErrorDetails { kind: self.kind, message: self.message, hint: self.hint }
    }

    /// Returns the error for a fault that the caller can't mend; its cause goes to the log only.
    fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(%cause, "request failed");
        Self::new(ErrorKind::Internal, "the server could not do this").hint("its log says why; doing it again may help")
    }
}

/// What an error says, left with its response for those who write it in another shape.
#[derive(Clone, Debug)]
pub(crate) struct ErrorDetails {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) hint: Option<Cow<'static, str>>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorFields<'a>,
}

#[derive(Serialize)]
struct ErrorFields<'a> {
    kind: ErrorKind,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let fields = ErrorFields { kind: self.kind, message: &self.message, hint: self.hint.as_deref() };
        let mut response = (self.kind.status(), axum::Json(ErrorBody { error: fields })).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.kind == ErrorKind::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self.into_details());
        response
    }
}

/// What the store says names folders and files of this machine: those stay in the log.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing => Self::no_session(),
            StoreError::Busy { holder } => Self::new(ErrorKind::Busy, format!("the session is in use by {holder}"))
                .hint("it can be followed, stopped and answered from here; send when it is done"),
            StoreError::Conflict => {
                Self::new(ErrorKind::Busy, "another process took this session over").hint("read the session again")
            }
            StoreError::KeyTaken { key } => {
                Self::new(ErrorKind::Busy, format!("a session with the key `{key}` exists already"))
            }
            StoreError::Exists { .. } => {
                Self::new(ErrorKind::Busy, "this session is here already").hint("delete it first to bring it in again")
            }
            StoreError::Full { .. } => Self::new(ErrorKind::Store, "the server's disk is full; nothing was stored")
                .hint("free some space there and send again"),
            StoreError::Broken { seq, .. } => Self::new(
                ErrorKind::Store,
                format!("the session's journal is damaged at record {seq}"),
            )
            .hint(
                "`windlass sessions verify` on the server says more; `windlass sessions salvage` keeps the whole part",
            ),
            error => {
                tracing::error!(%error, "the store failed");
                Self::new(ErrorKind::Store, "the server's store failed; nothing was half-written")
                    .hint("the server's log says why")
            }
        }
    }
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Store(error) => error.into(),
            OpenError::Newer { before, .. } => Self::new(
                ErrorKind::Busy,
                "this session was written by a newer version of Windlass and is read-only here",
            )
            .hint(format!("fork it at record {before} and go on with the fork")),
            OpenError::Survivors { .. } => {
                let error = Self::new(ErrorKind::Busy, "commands of the session's last process are still being ended");
                Self { retry_after: Some(2), ..error }
            }
        }
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        Self::internal(&error)
    }
}

impl From<SessionClosed> for ApiError {
    fn from(closed: SessionClosed) -> Self {
        match closed {
            SessionClosed::Store(error) => error.into(),
            SessionClosed::Closed => {
                Self { retry_after: Some(1), ..Self::new(ErrorKind::Draining, "the session was closed") }
            }
        }
    }
}

impl From<SessionAgentError> for ApiError {
    fn from(error: SessionAgentError) -> Self {
        match error {
            SessionAgentError::Folder { .. } => {
                tracing::warn!(%error, "a session's folder can't be used");
                Self::new(ErrorKind::Busy, "the session's folder is not there any more")
                    .hint("put it back on the server, or fork the session")
            }
            SessionAgentError::Store(error) => error.into(),
            SessionAgentError::Setup(windlass_setup::run_setup::SetupError::Settings(error))
            | SessionAgentError::Agent(windlass_setup::agent::AgentError::Settings(error)) => settings_error(&error),
            SessionAgentError::Setup(error) => Self::internal(&error),
            SessionAgentError::Agent(error) => Self::internal(&error),
            SessionAgentError::Io(error) => Self::internal(&error),
        }
    }
}

fn settings_error(error: &SettingsError) -> ApiError {
    tracing::warn!(%error, "the settings can't be used");
    ApiError::new(ErrorKind::NoModel, "no model can be used with the server's settings")
        .hint("set a key (OPENAI_API_KEY, ANTHROPIC_API_KEY, …) or start a local model server, then try again; `windlass doctor` on the server says what is missing")
}

#[cfg(test)]
mod tests {
    use super::ErrorKind;

    // proves W3: the document names the kinds as they are sent
    #[test]
    fn a_kind_is_sent_under_the_name_that_the_document_has() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
