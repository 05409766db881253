//! Why a request to a server failed, in words and as an exit code.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_line;

/// A request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RemoteError {
    /// No answer came.
    #[error("{at} can't be reached: {reason}")]
    Unreachable { at: Url, reason: String },
    /// What answers is not a server of Windlass.
    #[error("{at} is not a server of Windlass")]
    NotWindlass { at: Url },
    /// The server said no.
    #[error("{message}")]
    Refused { kind: RefusalKind, message: String, hint: Option<String>, retry_after: Option<u64> },
    /// The request could not be made.
    #[error("no request can be made: {reason}")]
    Client { reason: String },
}

/// The kinds of refusals that a client treats differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefusalKind {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    Busy,
    AlreadyAnswered,
    RunIsOver,
    NotOffered,
    Nothing,
    TooLarge,
    Limited,
    NoModel,
    Draining,
    Store,
    Internal,
    /// One of a later version.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct RefusalBody {
    error: RefusalFields,
}

#[derive(Deserialize)]
struct RefusalFields {
    kind: RefusalKind,
    message: String,
    hint: Option<String>,
}

impl RemoteError {
    pub(super) fn unreachable(at: &Url, error: &reqwest::Error) -> Self {
        Self::Unreachable { at: at.clone(), reason: reason(error) }
    }

    /// Returns what an answer without success says.
    pub(super) fn refused(at: &Url, status: u16, retry_after: Option<u64>, body: &[u8]) -> Self {
        match serde_json::from_slice::<RefusalBody>(body) {
            Ok(RefusalBody { error: RefusalFields { kind, message, hint } }) => {
                Self::Refused { kind, message, hint, retry_after }
            }
            // A proxy in front of a server that is down or busy answers for it.
            Err(_) if matches!(status, 429 | 502..=504) => {
                Self::Unreachable { at: at.clone(), reason: format!("the answer is status {status}") }
            }
            Err(_) => Self::NotWindlass { at: at.clone() },
        }
    }

    /// Returns the error for a server that says nothing.
    pub(super) fn silent(at: &Url) -> Self {
        Self::Unreachable { at: at.clone(), reason: "no answer came in time".to_owned() }
    }

    /// The kind of the refusal, where the server refused.
    pub(crate) fn kind(&self) -> Option<RefusalKind> {
        match self {
            Self::Refused { kind, .. } => Some(*kind),
            Self::Unreachable { .. } | Self::NotWindlass { .. } | Self::Client { .. } => None,
        }
    }

    /// When the server wants to be asked again, if it says so.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => retry_after.map(Duration::from_secs),
            Self::Unreachable { .. } | Self::NotWindlass { .. } | Self::Client { .. } => None,
        }
    }

    /// Whether there is no such thing at the server.
    pub(crate) fn is_not_found(&self) -> bool {
        self.kind() == Some(RefusalKind::NotFound)
    }

    /// Whether the same request may succeed in a while.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { kind, .. } => {
                matches!(
                    kind,
                    RefusalKind::Limited | RefusalKind::Draining | RefusalKind::Store | RefusalKind::Internal
                )
            }
            Self::NotWindlass { .. } | Self::Client { .. } => false,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Unreachable { .. } | Self::Client { .. } => Exit::Failed,
            Self::NotWindlass { .. } => Exit::Usage,
            Self::Refused { kind, .. } => match kind {
                RefusalKind::BadRequest
                | RefusalKind::Unauthorized
                | RefusalKind::Forbidden
                | RefusalKind::NotFound
                | RefusalKind::NotOffered
                | RefusalKind::Nothing
                | RefusalKind::TooLarge
                | RefusalKind::NoModel => Exit::Usage,
                RefusalKind::Busy | RefusalKind::Store => Exit::Store,
                RefusalKind::AlreadyAnswered
                | RefusalKind::RunIsOver
                | RefusalKind::Limited
                | RefusalKind::Draining
                | RefusalKind::Internal
                | RefusalKind::Other => Exit::Failed,
            },
        }
    }

    /// Says what went wrong and what helps.
    pub(crate) fn advised(&self) -> String {
        let advice = match self {
            Self::Unreachable { .. } => "is `windlass serve` running there?".to_owned(),
            Self::NotWindlass { .. } => "give the address that `windlass serve` printed".to_owned(),
            Self::Refused { kind: RefusalKind::Unauthorized, .. } => {
                "the token is that of the address which `windlass serve` printed when it started; \
                 --token-file or WINDLASS_TOKEN gives it"
                    .to_owned()
            }
            Self::Refused { retry_after: Some(seconds), .. } => format!("try again in {seconds} s"),
            Self::Refused { hint: Some(hint), .. } => hint.clone(),
            Self::Refused { .. } | Self::Client { .. } => return harmless_line(&self.to_string()),
        };
        harmless_line(&format!("{self}; {advice}"))
    }
}

/// Returns the innermost cause: those around it only say that a request was sent.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer came in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
        if let Some(error) = cause.downcast_ref::<io::Error>()
            && error.kind() == io::ErrorKind::ConnectionRefused
        {
            return "the connection is refused".to_owned();
        }
    }
    // The outermost text repeats the address, which may hold what nobody should see.
    if error.source().is_some() { cause.to_string() } else { "the connection was lost".to_owned() }
}

impl From<RemoteError> for CommandError {
    fn from(error: RemoteError) -> Self {
        Self::new(error.exit(), error.advised())
    }
}

#[cfg(test)]
mod tests {
    use super::{RefusalKind, RemoteError};
    use crate::exit::Exit;

    fn refused(status: u16, body: &str) -> RemoteError {
        RemoteError::refused(&"http://h/".parse().unwrap(), status, Some(7), body.as_bytes())
    }

    // proves W2: each refusal of a server has a sentence, advice and its exit code
    #[test]
    fn a_refusal_says_what_to_do() {
        for (status, kind, exit, advice) in [
            (401, "unauthorized", Exit::Usage, "--token-file"),
            (404, "not_found", Exit::Usage, "in 7 s"),
            (409, "busy", Exit::Store, "in 7 s"),
            (429, "limited", Exit::Failed, "in 7 s"),
            (503, "draining", Exit::Failed, "in 7 s"),
            (500, "of_tomorrow", Exit::Failed, "in 7 s"),
        ] {
            let body =
                format!("{{\"error\": {{\"kind\": \"{kind}\", \"message\": \"No.\\u001b[31m\", \"hint\": \"h\"}}}}");
            let error = refused(status, &body);
            assert_eq!(error.exit(), exit, "{kind}");
            let text = error.advised();
            assert!(text.starts_with("No.") && text.contains(advice) && !text.contains('\u{1b}'), "{text:?}");
        }
        assert!(matches!(
            refused(500, "{\"error\": {\"kind\": \"of_tomorrow\", \"message\": \"\"}}"),
            RemoteError::Refused { kind: RefusalKind::Other, .. }
        ));
    }

    #[test]
    fn another_kind_of_server_is_told_from_a_proxy_in_front_of_ours() {
        for status in [200, 301, 404, 500] {
            assert_eq!(refused(status, "<html>").exit(), Exit::Usage, "{status}");
        }
        for status in [429, 502, 503, 504] {
            assert_eq!(refused(status, "<html>").exit(), Exit::Failed, "{status}");
        }
    }
}
