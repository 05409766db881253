//! Why a tool could not do what it was asked, or can't, and whose fault that is.

use windlass_vocab::{Outcome, OutcomeKind, Remedy};

/// Why a call came to nothing, for the model. What it named wrongly is told from what failed (L11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    kind: OutcomeKind,
    text: String,
}

impl Refusal {
    /// What the arguments name is not there.
    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::NotFound, text: text.into() }
    }

    /// A rule forbids it.
    pub(crate) fn denied(text: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::Denied, text: text.into() }
    }

    /// The arguments name what this tool can't take, and the model can name another.
    pub(crate) fn wrong_argument(text: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::InvalidArguments, text: text.into() }
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self { kind: OutcomeKind::ToolError, text }
    }
}

impl From<Refusal> for String {
    fn from(refusal: Refusal) -> Self {
        refusal.text
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.kind, refusal.text)
    }
}

/// Why a call can't succeed, known before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertainFailure {
    /// What the model is told.
    pub reason: String,
    /// What a person could change about it.
    pub remedy: Option<Remedy>,
}

impl From<String> for CertainFailure {
    fn from(reason: String) -> Self {
        Self { reason, remedy: None }
    }
}
