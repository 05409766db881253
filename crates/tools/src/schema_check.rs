//! Whether a JSON value fits a schema, with errors worded so that a model can correct it.
//!
//! With the feature `json-schema` every schema is supported, as MCP servers need. Without it only the keywords that
//! schemas of Rust types use are; a schema with others is refused, never partly checked.

#[cfg(feature = "json-schema")]
mod either;
mod fault_line;
#[cfg(feature = "json-schema")]
mod full;
mod plain;

#[cfg(feature = "json-schema")]
pub(crate) use either::SchemaCheck;
#[cfg(not(feature = "json-schema"))]
pub(crate) use plain::PlainCheck as SchemaCheck;
