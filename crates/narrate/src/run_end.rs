//! How a run ended: its answer, or why there is none.

use windlass_vocab::{EndReason, RunEnded};

use crate::line::Tone;

/// What an end answers.
#[must_use]
pub fn answer_of(ended: &RunEnded) -> Option<&str> {
    match ended.reason {
        EndReason::Completed | EndReason::Asked | EndReason::Conversed | EndReason::Unfinished => Some(&ended.answer),
        EndReason::Cancelled | EndReason::TurnCap | EndReason::BudgetSpent | EndReason::Failed => None,
    }
}

/// Why there is no answer, or not a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEndWords<'a> {
    /// In few words.
    pub reason: &'static str,
    /// What more is known of it; may be empty.
    pub detail: &'a str,
    /// How it is meant.
    pub tone: Tone,
}

impl<'a> RunEndWords<'a> {
    /// Nothing where the run ended with an answer.
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
            EndReason::BudgetSpent => ("the budget is spent", detail, Tone::Failure),
            EndReason::Failed => ("the run failed", detail, Tone::Failure),
        };
        Some(Self { reason, detail, tone })
    }

    /// The reason and what more is known, with what a door can advise in between; it begins with a blank, if it is any.
    #[must_use]
    pub fn advised(&self, advice: &str) -> String {
        let colon = if self.detail.is_empty() { "" } else { ": " };
        format!("{}{advice}{colon}{}", self.reason, self.detail)
    }
}
