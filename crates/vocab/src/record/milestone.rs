//! The records that mark how far a run has come, for code that follows runs and needs no other record.

use super::{MessageAccepted, ModelReplied, Record, RunEnded, RunResumed, RunStarted, TurnStarted};

/// A record that marks how far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMilestone<'a> {
    /// A message was taken up.
    Accepted(&'a MessageAccepted),
    /// The run began.
    Started(&'a RunStarted),
    /// Another process took it up.
    Resumed(&'a RunResumed),
    /// A turn began.
    Turn(&'a TurnStarted),
    /// The model answered.
    Replied(&'a ModelReplied),
    /// The run is over.
    Ended(&'a RunEnded),
}

impl Record {
    /// Returns the milestone that this record is, if it is one.
    #[must_use]
    pub fn milestone(&self) -> Option<RunMilestone<'_>> {
        match self {
            Self::MessageAccepted(accepted) => Some(RunMilestone::Accepted(accepted)),
            Self::RunStarted(started) => Some(RunMilestone::Started(started)),
            Self::RunResumed(resumed) => Some(RunMilestone::Resumed(resumed)),
            Self::TurnStarted(started) => Some(RunMilestone::Turn(started)),
            Self::ModelReplied(replied) => Some(RunMilestone::Replied(replied)),
            Self::RunEnded(ended) => Some(RunMilestone::Ended(ended)),
            Self::SessionOpened(_)
            | Self::SessionChanged(_)
            | Self::LeaseTaken(_)
            | Self::ContextPinned(_)
            | Self::AttemptFailed(_)
            | Self::CallRequested(_)
            | Self::CallStarted(_)
            | Self::CallPaused(_)
            | Self::CallSettled(_)
            | Self::CallFinished(_)
            | Self::SnapshotTaken(_)
            | Self::FilesChanged(_)
            | Self::QuestionAsked(_)
            | Self::QuestionAnswered(_)
            | Self::Nudged(_)
            | Self::ToolWithheld(_)
            | Self::PlanChanged(_)
            | Self::ChildSpawned(_)
            | Self::ChildReported(_)
            | Self::Compacted(_)
            | Self::CancelAsked(_)
            | Self::UndoStarted(_)
            | Self::Undone(_)
            | Self::Unknown(_) => None,
        }
    }
}
