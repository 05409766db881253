//! Parses the arguments that the model wrote for a built-in tool.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contains_placeholder;

/// Returns the arguments as the tool's own type. The schema has been checked; this checks what a schema can't express.
pub(super) fn parse_arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("The arguments don't fit: {error}."))
}

/// Refuses text that contains a placeholder instead of a secret (X1).
pub(super) fn refuse_placeholder(text: &str) -> Result<(), String> {
    if !contains_placeholder(text) {
        return Ok(());
    }
    Err("The text has a placeholder `⟦secret:…⟧` in it. The secret behind it is not shown to you and would not be \
         written. Leave it out: change only the lines around it, or let a program read the secret where it is kept."
        .into())
}
