//! The output a run must end with, where plain text is not enough (L10).

use serde::{Deserialize, Serialize};

use crate::Json;

/// The required form of an output. Stored with the run that must produce it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Json,
}
