//! The fault of a call that could not be parsed.

/// A call that could not be parsed. Its `Display` text is sent to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedCall {
    /// Its syntax is broken.
    #[error("ParseError: {what}")]
    ParseError {
        /// Where it is broken.
        what: String,
    },
    /// A field is missing.
    #[error("MissingField: the call has no `{field}`.")]
    MissingField {
        /// Which field.
        field: &'static str,
    },
}

impl MalformedCall {
    pub(super) fn parse(what: impl Into<String>) -> Self {
        Self::ParseError { what: what.into() }
    }
}
