//! What the judge found wrong with a reply that would end a run (S1), as data: the records carry it, and whoever shows
//! it words it.

use serde::{Deserialize, Serialize};

/// A fault of a reply, with the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ReplyFault {
    /// No call was made in the run, although the request is about these files or, where there are none, asks for a
    /// change.
    NoCall {
        /// Files that the request names and that exist.
        files: Vec<String>,
    },
    /// The request asks for files that no call wrote.
    NotWritten {
        /// Their names, as the request writes them.
        files: Vec<String>,
    },
    /// The request asks for a figure from files, and the reply gives one that no script computed.
    NotComputed {},
    /// Every call of the run failed, and the reply answers as if one had not.
    CallsFailed {},
    /// The request asks for a change, and no call changed anything.
    NothingChanged {},
    /// The request names several files, and only some were used.
    Untouched {
        /// The others.
        files: Vec<String>,
    },
    /// Files that the request lists beside one that was changed, or asks to be moved, are as they were.
    NotChanged {
        /// The others.
        files: Vec<String>,
    },
    /// The reply repeats a script that was run already and brought nothing: the run starts over.
    Repeated {},
    /// Steps of the plan are not done.
    StepsOpen {
        /// The steps.
        steps: Vec<String>,
    },
    /// The reply shows a call as text instead of making it.
    CallAsText {},
    /// The reply ends by announcing a step.
    StepAnnounced {},
    /// The reply tells the person how to do the work, or that it can't be done here.
    HandedBack {},
}

impl ReplyFault {
    /// Whether the records show that something that was asked for is not done. Otherwise only the wording of the reply
    /// suggests it.
    #[must_use]
    pub fn is_shown_by_records(&self) -> bool {
        match self {
            Self::NoCall { .. }
            | Self::NotWritten { .. }
            | Self::CallsFailed {}
            | Self::NothingChanged {}
            | Self::Untouched { .. }
            | Self::NotChanged { .. }
            | Self::StepsOpen { .. }
            | Self::CallAsText {}
            | Self::StepAnnounced {} => true,
            Self::HandedBack {} | Self::NotComputed {} | Self::Repeated {} => false,
        }
    }
}
