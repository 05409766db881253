//! The output a run must end with, where plain text is not enough (L10).

use serde::{Deserialize, Serialize};

use crate::Json;

/// How a model is asked for an output, the most certain form first. The instructions hold the schema in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// The server holds the answer to the schema.
    #[default]
    Schema,
    /// The answer is the arguments of a call to a tool that is offered for it.
    Tool,
    /// Only the instructions ask for it.
    Prompt,
}

impl OutputForm {
    /// Returns the form to try when a server refuses this one.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Tool),
            Self::Tool => Some(Self::Prompt),
            Self::Prompt => None,
        }
    }
}

/// The required form of an output. Stored with the run that must produce it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Json,
}
