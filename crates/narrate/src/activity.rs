//! The current activity of a live session, for a line that is overwritten when it changes.

use std::fmt;

use crate::duration::duration;

/// What the session is waiting for. `Display` writes it in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity<'a> {
    /// The first token of a model's reply.
    Model,
    /// A model's summary of the older part of the conversation.
    Summary,
    /// A planner's steps.
    Plan,
    /// The model's thinking is being received.
    Thinking,
    /// The model's answer is being received.
    Answering,
    /// The arguments of a call are being received.
    Writing {
        /// The tool as the model wrote it.
        tool: &'a str,
        /// Bytes received so far.
        bytes: usize,
    },
    /// Running calls, by display name.
    Calls(&'a [&'a str]),
    /// The start of the next attempt.
    Retry {
        /// Time until then.
        left_ms: u64,
        /// Why the last attempt failed.
        why: &'a str,
    },
    /// A person's answer.
    Person,
}

impl fmt::Display for Activity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model => f.write_str("waiting for the model"),
            Self::Summary => f.write_str("summarising the older part of the conversation"),
            Self::Plan => f.write_str("waiting for the plan"),
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
