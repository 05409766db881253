//! What comes out of a check: how it stands, what was seen, and what to do.

use serde::Serialize;

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckState {
    /// It works.
    Ok,
    /// It works, but not as it could.
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

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What it is about, in a word.
    pub(crate) name: &'static str,
    pub(crate) state: CheckState,
    /// What was seen.
    pub(crate) said: String,
    /// More of it, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
    /// What to do.
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

    /// A failure whose sentence says what to do already.
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
