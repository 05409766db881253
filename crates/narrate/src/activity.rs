//! What a live session is busy with, for a line that is written over as it changes.

use std::fmt;

use crate::duration::duration;

/// What is waited for; displayed it is its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity<'a> {
    /// The first word of a model.
    Model,
    /// Its thoughts are coming.
    Thinking,
    /// Its answer is coming.
    Answering,
    /// The arguments of a call are coming.
    Writing {
        /// The tool as the model wrote it.
        tool: &'a str,
        /// What has come of them.
        bytes: usize,
    },
    /// Calls that run, as they are named.
    Calls(&'a [&'a str]),
    /// The time of another attempt.
    Retry {
        /// How long that is from now.
        left_ms: u64,
        /// Why it is needed.
        why: &'a str,
    },
    /// An answer of a person.
    Person,
}

impl fmt::Display for Activity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model => f.write_str("waiting for the model"),
            Self::Thinking => f.write_str("thinking"),
            Self::Answering => f.write_str("answering"),
            Self::Writing { tool, bytes } => write!(f, "writing a call of {tool}, {}", size(*bytes)),
            Self::Calls([call]) => write!(f, "running {call}"),
            Self::Calls(calls) => write!(f, "running {} calls: {}", calls.len(), calls.join(", ")),
            Self::Retry { left_ms, why } => write!(f, "trying again in {}: {why}", duration(*left_ms)),
            Self::Person => f.write_str("waiting for an answer"),
        }
    }
}

fn size(bytes: usize) -> String {
    if bytes < 1_000 { format!("{bytes} bytes") } else { format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100) }
}
