//! The names of the files in which projects instruct agents.

/// The names, the preferred one first: the second counts where there is none of the first beside it.
pub(crate) const INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
