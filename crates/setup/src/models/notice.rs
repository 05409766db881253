//! Notices about the choice of a model.

use std::fmt;

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
    /// A preset was chosen that nobody named, because the model did best with it.
    MeasuredPreset {
        /// The model.
        model: ModelName,
        /// The preset.
        preset: &'static str,
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
            Self::MeasuredPreset { model, preset } => {
                write!(f, "the preset {preset} is used: {model} did best with it in measured file jobs")
            }
            Self::UnreadableMemory(UnreadableMemory { path, problem }) => {
                write!(f, "{} can't be read ({problem}); what it said of a model is left out", path.display())
            }
        }
    }
}
