//! Whether a call may run, and what decided that.

use serde::{Deserialize, Serialize};

use crate::{Remedy, TextOrigin};

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Allow,
    /// A person must decide.
    Ask,
    /// No; the model sees the reason.
    Deny {
        /// The reason.
        reason: String,
        /// What a person could change about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// No: the arguments don't fit the schema.
    Invalid {
        /// How to correct them.
        reason: String,
        /// What a person could change about it, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// No: there is no such tool.
    Unknown {
        /// The message to the model, with suggestions.
        reason: String,
        /// The server in the tool's name, where it could not be connected: not the model's mistake.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unavailable: Option<String>,
    },
}

impl Verdict {
    /// Returns a refusal without a remedy.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into(), remedy: None }
    }

    /// Returns a verdict on arguments that don't fit the schema, without a remedy.
    #[must_use]
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into(), remedy: None }
    }
}

/// What decided whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum VerdictReason {
    /// No rule matched, so the permission mode decided.
    Mode {
        /// Its name.
        mode: String,
    },
    /// A rule of the configuration or the command line.
    Rule {
        /// The rule as written.
        rule: String,
    },
    /// A rule that a person allowed for this session.
    Grant {
        /// The rule as written.
        rule: String,
    },
    /// The call would change a protected path.
    Protected {
        /// The path, as a pattern that matches nothing else.
        path: String,
        /// The pattern that protects it.
        pattern: String,
    },
    /// The call would carry text from outside to a protected path or the network (X4).
    OutsideText {
        /// Where the text came from.
        origin: TextOrigin,
    },
    /// The call would change files although the request did not ask for that.
    Unasked {
        /// What it would do.
        change: UnaskedChange,
    },
    /// The call runs a script that a model wrote, and no sandbox confines it.
    Unconfined {},
}

/// A change that a request did not ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum UnaskedChange {
    /// Any change, where the request is a question.
    InAnswer {},
    /// Any change, where the request does not say exactly what to change.
    Unclear {},
    /// The loss of a file that the request does not name.
    Deletes {
        /// The file.
        path: String,
    },
    /// The change of a file that the request does not name, after one that it names.
    NotNamed {
        /// The file.
        path: String,
    },
    /// Any change of a file that the run was not allowed to delete.
    AfterDeniedDelete {
        /// The file.
        path: String,
    },
}
