//! What is wrong with a call that could not be read.

/// A call that could not be read. Displayed as the model is told it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedCall {
    /// It is broken.
    #[error("ParseError: {what}")]
    ParseError {
        /// Where.
        what: String,
    },
    /// It lacks something.
    #[error("MissingField: the call has no `{field}`.")]
    MissingField {
        /// What.
        field: &'static str,
    },
}

impl MalformedCall {
    pub(super) fn parse(what: impl Into<String>) -> Self {
        Self::ParseError { what: what.into() }
    }
}
