//! Whether a call may run, and what decided that.

use serde::{Deserialize, Serialize};

use crate::{Remedy, TextOrigin};

/// May a call run?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Allow,
    /// A person must say.
    Ask,
    /// No; the model is told why.
    Deny {
        /// Why.
        reason: String,
        /// What a person could change about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// It can't: the arguments don't fit.
    Invalid {
        /// How to mend them.
        reason: String,
        /// What a person could change about it, where they could.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
    },
    /// It can't: there is no such tool.
    Unknown {
        /// What the model is told, with suggestions.
        reason: String,
        /// The server it names, where that one could not be connected: no fault of the model's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unavailable: Option<String>,
    },
}

impl Verdict {
    /// No, and nothing a person could change is known.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into(), remedy: None }
    }

    /// The arguments don't fit.
    #[must_use]
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into(), remedy: None }
    }
}

/// What decided whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum VerdictReason {
    /// No rule spoke, so the mode did.
    Mode {
        /// Its name.
        mode: String,
    },
    /// A rule of the configuration or the command line.
    Rule {
        /// As it is written.
        rule: String,
    },
    /// Something a person allowed for this session.
    Grant {
        /// As it is written.
        rule: String,
    },
    /// It would change a path that is protected.
    Protected {
        /// The path, as a pattern that means nothing else.
        path: String,
        /// The pattern that protects it.
        pattern: String,
    },
    /// It would carry text from outside to a protected path or the network (X4).
    OutsideText {
        /// Where the text came from.
        origin: TextOrigin,
    },
}
