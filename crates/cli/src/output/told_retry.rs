//! Retries for the same reason, one after the other, are told once.

use windlass_vocab::{NextAttempt, Record};

use super::wording::attempt_problem;

/// The problem of the retry that was told last, until something else happens.
#[derive(Debug, Default)]
pub(crate) struct ToldRetry(Option<String>);

impl ToldRetry {
    /// Takes in the next record; says whether it is a retry for the reason that was told last.
    pub(crate) fn repeats(&mut self, record: &Record) -> bool {
        let retry = if let Record::AttemptFailed(attempt) = record { Some(attempt) } else { None };
        let problem = retry.filter(|attempt| is_retry(&attempt.next)).map(attempt_problem);
        let repeats = problem.is_some() && problem == self.0;
        self.0 = problem;
        repeats
    }
}

/// Whether the same model is asked again after a wait.
pub(crate) fn is_retry(next: &NextAttempt) -> bool {
    match next {
        NextAttempt::Retry { .. } => true,
        NextAttempt::Model { .. }
        | NextAttempt::Whole
        | NextAttempt::Shorter
        | NextAttempt::Dialect { .. }
        | NextAttempt::End => false,
    }
}
