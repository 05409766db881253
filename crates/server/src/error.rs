//! Errors of requests: a status, a kind for programs, a sentence and what to do for people.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use windlass_runtime::{OpenError, SessionClosed};
use windlass_setup::session_agent::SessionAgentError;
use windlass_setup::settings::SettingsError;
use windlass_store::StoreError;

/// Makes the kinds of errors from a table: the kind, its name as it is sent, its status, and what it means.
macro_rules! error_kinds {
    ($($kind:ident $name:literal $status:ident $meaning:literal,)*) => {
        /// What kind of error it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub(crate) enum ErrorKind {
            $(#[doc = $meaning] #[serde(rename = $name)] $kind,)*
        }

        impl ErrorKind {
            /// Every kind.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the kind as it is sent.
            pub(crate) const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns what the kind means, for the OpenAPI document.
            pub(crate) const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$kind => $meaning,)*
                }
            }

            pub(crate) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$kind => StatusCode::$status,)*
                }
            }
        }
    };
}

error_kinds! {
    BadRequest "bad_request" BAD_REQUEST "The request can't be understood.",
    Unauthorized "unauthorized" UNAUTHORIZED "There is no token, or a wrong one.",
    Forbidden "forbidden" FORBIDDEN "The caller may not do this, or the request comes from another site.",
    NotFound "not_found" NOT_FOUND "There is no such thing, or it is somebody else's.",
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED "The address does not take this method.",
    Busy "busy" CONFLICT "The session is at work, or another process has it.",
    AlreadyAnswered "already_answered" CONFLICT "The question was answered already.",
    RunIsOver "run_is_over" CONFLICT "The run that asked has ended.",
    NotOffered "not_offered" CONFLICT "The question offers no such answer.",
    Nothing "nothing" CONFLICT "There is nothing to be done.",
    TooLarge "too_large" PAYLOAD_TOO_LARGE "The body is too large.",
    TooSlow "too_slow" REQUEST_TIMEOUT "The body did not arrive in time.",
    Limited "limited" TOO_MANY_REQUESTS "Too many requests, sessions, runs or waiting messages; `Retry-After` says when to try again.",
    NoModel "no_model" SERVICE_UNAVAILABLE "No model is configured.",
    Draining "draining" SERVICE_UNAVAILABLE "The server is being shut down.",
    Store "store" SERVICE_UNAVAILABLE "The server's store failed.",
    Internal "internal" INTERNAL_SERVER_ERROR "A fault of the server.",
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
