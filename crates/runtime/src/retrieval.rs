//! Retrieved context (C10): passages that may be about the person's last message, found anew for each turn and sent in
//! its tail (C1), never recorded.
//!
//! The protocol: before a model is called for a turn, the driver asks every source of the agent at once, with the
//! person's last message, and waits for at most 200 ms. A source that fails or is late is left out of the turn;
//! subscribers are told once in a run. What was found is cut to the room that the turn's budget sets aside, and the same
//! passages go with every attempt of the turn. Text that nobody has checked is remembered, so that a call which carries
//! it on is asked about (X4).

#[cfg(feature = "sqlite")]
mod file_source;
pub(crate) mod gather;
#[cfg(feature = "sqlite")]
mod indexer;
#[cfg(feature = "sqlite")]
mod line_ranges;
pub(crate) mod source;
pub(crate) mod turn_passages;

#[cfg(feature = "sqlite")]
pub use file_source::FileSource;
#[cfg(feature = "sqlite")]
pub use indexer::IndexedFolder;
pub use source::{ContextSource, Passage, SourceError};
