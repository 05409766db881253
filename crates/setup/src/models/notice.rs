//! Notices about the choice of a model.

use std::fmt;

use windlass_provider::known_models::measured::{BetterPreset, MeasuredModel};
use windlass_vocab::ModelName;

use super::memory::UnreadableMemory;
use super::software::Software;

/// A notice about the chosen model. The door adds what can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelNotice {
    /// A model was chosen that nobody named: a sentence that says which.
    Picked(String),
    /// The server of a named model was found: a sentence that says where.
    Found(String),
    /// A server on this machine may be somebody else's and is not used.
    NotUsed {
        /// The server, and why it may be somebody else's.
        doubt: String,
        /// The server's address.
        base_url: String,
    },
    /// A server on this machine has no model.
    NoModelHere {
        /// The server's program.
        software: Software,
    },
    /// The model did more file jobs with another preset.
    BetterPreset {
        /// The model.
        model: ModelName,
        /// The presets, and how it did with each.
        better: BetterPreset,
    },
    /// What was remembered of a model can't be read, and is left out.
    UnreadableMemory(UnreadableMemory),
}

impl fmt::Display for ModelNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Picked(text) | Self::Found(text) => f.write_str(text),
            Self::NotUsed { doubt, .. } => write!(f, "{doubt}; it is not used unasked"),
            Self::NoModelHere { software } => {
                write!(f, "{} runs on this machine but has no model yet", software.name())
            }
            Self::BetterPreset { model, better: BetterPreset { better, in_use } } => {
                let jobs = |row: &MeasuredModel| format!("{} of {}", row.needs_tools.count, row.needs_tools.tries);
                write!(f, "{model} did {} file jobs with the preset {}", jobs(better), better.preset)?;
                in_use.map_or(Ok(()), |row| write!(f, ", {} with {}", jobs(row), row.preset))
            }
            Self::UnreadableMemory(UnreadableMemory { path, problem }) => {
                write!(f, "{} can't be read ({problem}); what it said of a model is left out", path.display())
            }
        }
    }
}
