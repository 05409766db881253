//! Exit codes: part of the contract with scripts, never to change.

use std::process::ExitCode;

use windlass_narrate::lost_files;
use windlass_vocab::{EndReason, FailureClass, RunEnded};

/// The outcome of the process, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: the run completed, ended with a question to the person, or was conversation only.
    Done,
    /// 1: the run, or the command, failed.
    Failed,
    /// 2: wrong usage: arguments, settings, prompt.
    Usage,
    /// 3: turn cap reached, budget spent, ended unfinished, or a script lost files unasked.
    Unfinished,
    /// 4: stopped by a person or the deadline.
    Cancelled,
    /// 5: the store is busy, damaged or gone.
    Store,
    /// 6: waiting for a person.
    Waiting,
    /// The exit code of the command that was run: `windlass sandbox` only.
    OfCommand(u8),
}

impl Exit {
    /// Returns the number a script sees.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Unfinished => 3,
            Self::Cancelled => 4,
            Self::Store => 5,
            Self::Waiting => 6,
            Self::OfCommand(code) => code,
        }
    }
}

impl From<&RunEnded> for Exit {
    fn from(ended: &RunEnded) -> Self {
        match ended.reason {
            EndReason::Completed | EndReason::Asked | EndReason::Conversed if lost_files(ended) => Self::Unfinished,
            EndReason::Completed | EndReason::Asked | EndReason::Conversed => Self::Done,
            EndReason::Unfinished | EndReason::TurnCap | EndReason::BudgetSpent => Self::Unfinished,
            EndReason::Cancelled => Self::Cancelled,
            EndReason::Failed => match ended.failure.as_ref().map(|failure| failure.class) {
                Some(FailureClass::Store) => Self::Store,
                Some(
                    FailureClass::Transient
                    | FailureClass::Quota
                    | FailureClass::Auth
                    | FailureClass::BadRequest
                    | FailureClass::Overflow
                    | FailureClass::Filtered
                    | FailureClass::Protocol
                    | FailureClass::Internal,
                )
                | None => Self::Failed,
            },
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{EndReason, Failure, FailureClass, RunChanges};

    use super::Exit;
    use crate::sample::ended;

    fn code(reason: EndReason, failure: Option<Failure>) -> u8 {
        Exit::from(&ended(reason, "", failure)).code()
    }

    // proves W2, X4: an answer does not make up for a file that a script lost unasked
    #[test]
    fn a_run_that_lost_a_file_unasked_is_not_done() {
        let mut done = ended(EndReason::Completed, "Done.", None);
        let lost = [("y.jpg".to_owned(), "deleted".to_owned())].into();
        done.changes = Some(Box::new(RunChanges { lost, ..RunChanges::default() }));
        assert_eq!(Exit::from(&done).code(), 3);
    }

    // proves W2: each end of a run has its exit code
    #[test]
    fn every_end_of_a_run_has_the_exit_code_of_the_contract() {
        for (reason, expected) in [
            (EndReason::Completed, 0),
            (EndReason::Asked, 0),
            (EndReason::Conversed, 0),
            (EndReason::Failed, 1),
            (EndReason::Unfinished, 3),
            (EndReason::TurnCap, 3),
            (EndReason::BudgetSpent, 3),
            (EndReason::Cancelled, 4),
        ] {
            assert_eq!(code(reason, None), expected, "{reason:?}");
        }
        assert_eq!(code(EndReason::Failed, Some(Failure::new(FailureClass::Auth, "no"))), 1);
        assert_eq!(code(EndReason::Failed, Some(Failure::new(FailureClass::Store, "no"))), 5);
        assert_eq!((Exit::Usage.code(), Exit::Store.code(), Exit::Waiting.code()), (2, 5, 6));
    }
}
