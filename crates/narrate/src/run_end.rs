//! The end of a run: its answer, or why there is none.

use windlass_vocab::{EndReason, RunEnded};

use crate::line::Tone;

/// Returns the answer of a run that ended with one.
#[must_use]
pub fn answer_of(ended: &RunEnded) -> Option<&str> {
    match ended.reason {
        EndReason::Completed | EndReason::Asked | EndReason::Conversed | EndReason::Unfinished => Some(&ended.answer),
        EndReason::Cancelled | EndReason::TurnCap | EndReason::BudgetSpent | EndReason::Failed => None,
    }
}

/// Why there is no answer, or only a partial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEndWords<'a> {
    /// The reason, in a few words.
    pub reason: &'static str,
    /// More about the reason; may be empty.
    pub detail: &'a str,
    /// The tone of the line.
    pub tone: Tone,
}

impl<'a> RunEndWords<'a> {
    /// Returns `None` if the run ended with an answer.
    #[must_use]
    pub fn of(ended: &'a RunEnded) -> Option<Self> {
        let detail = ended.failure.as_ref().map_or(ended.answer.as_str(), |failure| &failure.message);
        let (reason, detail, tone) = match ended.reason {
            EndReason::Completed if ended.answer.trim().is_empty() => ("the model gave no answer", "", Tone::Plain),
            EndReason::Completed | EndReason::Asked | EndReason::Conversed => return None,
            EndReason::Unfinished if ended.cut_off => ("the answer was cut off by the length limit", "", Tone::Quiet),
            EndReason::Unfinished => ("the work is not finished", "", Tone::Quiet),
            EndReason::Cancelled if !ended.dropped.is_empty() => {
                ("stopped; the model has not read what was said last, and will not", detail, Tone::Quiet)
            }
            EndReason::Cancelled => ("stopped", detail, Tone::Quiet),
            EndReason::TurnCap => ("the run reached its turn cap", detail, Tone::Failure),
            EndReason::BudgetSpent => ("a spending limit is reached", detail, Tone::Failure),
            EndReason::Failed => ("the run failed", detail, Tone::Failure),
        };
        Some(Self { reason, detail, tone })
    }

    /// Returns the reason, the door's advice and the detail. `advice` begins with a blank unless it is empty.
    #[must_use]
    pub fn advised(&self, advice: &str) -> String {
        let colon = if self.detail.is_empty() { "" } else { ": " };
        format!("{}{advice}{colon}{}", self.reason, self.detail)
    }
}
