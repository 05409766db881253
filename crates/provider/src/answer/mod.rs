//! An answer, of whatever wire: a stream of events or one body, read until a reply or a failure is known.

pub(crate) mod body;
pub(crate) mod draft;
pub(crate) mod stream;
