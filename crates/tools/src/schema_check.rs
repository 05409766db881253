//! Whether a JSON value fits a schema, told so that a model can mend it.
//!
//! With the feature `json-schema` every schema is understood, as those of MCP servers must be. Without it the words that
//! schemas of Rust types are made of are; a schema with others is refused, never half checked.

#[cfg(feature = "json-schema")]
mod full;
#[cfg(any(test, not(feature = "json-schema")))]
mod plain;

#[cfg(feature = "json-schema")]
pub(crate) use full::SchemaCheck;
#[cfg(not(feature = "json-schema"))]
pub(crate) use plain::SchemaCheck;

/// At most this many faults are told at once.
const FAULTS: usize = 5;

/// The line of a fault: where it is, or what the whole value is called, and what is wrong.
fn fault_line(place: &str, whole: &str, problem: &str) -> String {
    let place = if place.is_empty() { whole.to_owned() } else { crate::shorten::shorten(place, 200) };
    format!("- {place}: {}", crate::shorten::shorten(problem, 400))
}
