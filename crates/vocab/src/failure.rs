//! What can go wrong outside, in one shape. Whether it is worth another try is read off the class.

use serde::{Deserialize, Serialize};

/// The kinds of failure, by what they mean for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Passing: rate limit, overload, lost connection, timeout. Worth another try.
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
    /// The answer made no sense: not JSON, not the wire we speak, over a limit.
    Protocol,
    /// The journal could not be written or read.
    Store,
    /// A fault of ours.
    Internal,
}

/// A failure a person should see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What it means for the run.
    pub class: FailureClass,
    /// What happened, in a sentence or two. Which flag or file mends it is for whoever shows it to say.
    pub message: String,
    /// How long the other side asked us to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether any part of the reply had arrived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_byte: bool,
    /// Whether the server says that it takes no tools for this model (T4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_tools: bool,
    /// Whether the server says that it has no such model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_model: bool,
    /// Whether nothing listens at the address, which is on this machine: the server is not running (M3).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_running: bool,
}

impl Failure {
    /// A failure of `class` with nothing more known than `message`.
    #[must_use]
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
            retry_after_ms: None,
            status: None,
            first_byte: false,
            no_tools: false,
            no_model: false,
            not_running: false,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
