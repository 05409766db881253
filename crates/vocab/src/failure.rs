//! Failures of models, servers and the store, in one form. The class says whether a retry is worthwhile.

use serde::{Deserialize, Serialize};

use crate::SpentElsewhere;

/// Classes of failure, by what they mean for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Temporary: rate limit, overload, lost connection, timeout. Worth a retry.
    Transient,
    /// The account has nothing left to spend.
    Quota,
    /// The key is missing or refused.
    Auth,
    /// The request can't succeed as it is: unknown model, wrong parameter.
    BadRequest,
    /// The request is longer than the model's window.
    Overflow,
    /// The provider withheld the answer.
    Filtered,
    /// The answer was unreadable: not JSON, not the expected wire format, or over a limit.
    Protocol,
    /// The journal could not be written or read.
    Store,
    /// A bug in Windlass.
    Internal,
}

/// What is known of the cause of a failure, where it is not what the class says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// Something else than the expected server is at the address.
    WrongAddress,
    /// Nothing answers at the address.
    Unreachable,
    /// The server's certificate is signed by an authority that this machine does not trust.
    UntrustedCertificate,
    /// The model was not called: it has failed repeatedly a moment ago, and another model of the chain could be called
    /// instead (M2).
    NotCalled,
    /// The server refused the request because of an image in it.
    ImageRefused,
}

/// A failure to report to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What it means for the run.
    pub class: FailureClass,
    /// What happened, in a sentence or two. It names no flag or file that would fix it: the user interface adds that.
    pub message: String,
    /// How long the server asked us to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether any part of the reply had arrived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_byte: bool,
    /// Whether the server reports that it supports no tools for this model (T4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_tools: bool,
    /// Whether the server reports that it does not accept the form in which an output was asked for (L10).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub output_refused: bool,
    /// Whether the server reports that it has no such model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_model: bool,
    /// Whether the address is on this machine and nothing listens there: the server is not running (M3).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_running: bool,
    /// The cause, where more is known than the class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<FailureCause>,
    /// Set when the model was not called because other runs have spent what a shared limit allows (M7): what they have
    /// spent by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_elsewhere: Option<Box<SpentElsewhere>>,
}

impl Failure {
    /// Returns a failure of `class` with `message` and no other details.
    #[must_use]
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            retry_after_ms: None,
            status: None,
            first_byte: false,
            no_tools: false,
            output_refused: false,
            no_model: false,
            not_running: false,
            cause: None,
            spent_elsewhere: None,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
