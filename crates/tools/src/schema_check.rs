//! Whether a JSON value fits a schema, with errors worded so that a model can correct it.
//!
//! With the feature `json-schema` every schema is supported, as MCP servers need. Without it only the keywords that
//! schemas of Rust types use are; a schema with others is refused, never partly checked.

#[cfg(feature = "json-schema")]
mod full;
#[cfg(any(test, not(feature = "json-schema")))]
mod plain;

#[cfg(feature = "json-schema")]
pub(crate) use full::SchemaCheck;
#[cfg(not(feature = "json-schema"))]
pub(crate) use plain::SchemaCheck;

/// At most this many faults are reported at once.
const FAULTS: usize = 5;

/// Formats a fault: its place, or the name of the whole value, and what is wrong.
fn fault_line(place: &str, whole: &str, problem: &str) -> String {
    let place = if place.is_empty() { whole.to_owned() } else { crate::shorten::shorten(place, 200) };
    format!("- {place}: {}", crate::shorten::shorten(problem, 400))
}
