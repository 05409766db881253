//! The result of a check: its state, the finding, and the advice.

use serde::Serialize;

/// Whether the checked thing works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckState {
    /// It works.
    Ok,
    /// It works, but not as well as it could.
    Warn,
    /// It does not work.
    Fail,
}

impl CheckState {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// The subject, in one word.
    pub(crate) name: &'static str,
    pub(crate) state: CheckState,
    /// The finding.
    pub(crate) said: String,
    /// Details of the finding, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
    /// What the person should do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
}

impl Check {
    fn new(name: &'static str, state: CheckState, said: impl Into<String>) -> Self {
        Self { name, state, said: said.into(), details: Vec::new(), advice: None }
    }

    pub(crate) fn ok(name: &'static str, said: impl Into<String>) -> Self {
        Self::new(name, CheckState::Ok, said)
    }

    pub(crate) fn warn(name: &'static str, said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..Self::new(name, CheckState::Warn, said) }
    }

    /// Returns a failure whose message already says what to do.
    pub(crate) fn fail(name: &'static str, said: impl Into<String>) -> Self {
        Self::new(name, CheckState::Fail, said)
    }

    pub(crate) fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    pub(super) fn with(self, details: Vec<String>) -> Self {
        Self { details, ..self }
    }
}
