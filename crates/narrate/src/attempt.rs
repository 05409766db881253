//! A failed model call, and what follows it.

use windlass_vocab::{AttemptFailed, NextAttempt, OutputForm, Timestamp};

use crate::activity::Activity;
use crate::harmless::{TEXT, short_line};
use crate::line::{NarratedLine, Tone};

/// Returns why an attempt failed, in a few words.
#[must_use]
pub fn problem_of_attempt(attempt: &AttemptFailed) -> String {
    let what = if attempt.failure.status == Some(429) { "rate limited" } else { &attempt.failure.message };
    short_line(what.trim_end_matches('.'), TEXT)
}

/// What is known of a turn's failed attempts.
#[derive(Debug, Default)]
pub(crate) struct LastRetry {
    /// The problem of the last reported retry, until something else happens.
    problem: Option<String>,
    /// Attempts of the turn that repeated a try in another way, as the policy counts tries.
    repeats: u32,
}

impl LastRetry {
    /// Forgets the problem, because something else happened.
    pub(crate) fn forget(&mut self) {
        self.problem = None;
    }

    /// Another turn begins.
    pub(crate) fn begin_turn(&mut self) {
        self.repeats = 0;
    }

    /// Returns why an attempt failed and what follows; `None` if the end of the run says it all. A retry for the last
    /// reported reason gets the tone `Passing`: repeated retries are not worth a line each.
    pub(crate) fn brief(&mut self, attempt: &AttemptFailed, at: Timestamp) -> Option<NarratedLine> {
        let (problem, told) = (problem_of_attempt(attempt), self.problem.take());
        self.repeats += u32::from(repeats_try(&attempt.next));
        let next = match what_follows(&attempt.next) {
            Follows::Retry(due) => {
                let tone = if told.as_ref() == Some(&problem) { Tone::Passing } else { Tone::Delay };
                let line =
                    NarratedLine::new(tone, Activity::Retry { left_ms: due.ms_since(at), why: &problem }.to_string());
                self.problem = Some(problem);
                return Some(line);
            }
            Follows::Other(next) => next,
            Follows::Nothing => {
                let tries = attempt.attempt.saturating_sub(self.repeats);
                return (tries > 1).then(|| NarratedLine::new(Tone::Plain, format!("gave up after {tries} tries")));
            }
        };
        Some(NarratedLine::new(Tone::Plain, format!("{problem}; {next}")))
    }
}

/// Whether the next attempt belongs to the same try.
fn repeats_try(next: &NextAttempt) -> bool {
    match next {
        NextAttempt::Whole | NextAttempt::Shorter | NextAttempt::Dialect { .. } | NextAttempt::Output { .. } => true,
        NextAttempt::Retry { .. } | NextAttempt::Model { .. } | NextAttempt::PlainSummary | NextAttempt::End => false,
    }
}

/// Returns the full line for a later reader, with the model.
pub(crate) fn full(attempt: &AttemptFailed, at: Timestamp) -> NarratedLine {
    let problem = format!("{}: {}", attempt.model, problem_of_attempt(attempt));
    let text = match what_follows(&attempt.next) {
        Follows::Retry(due) => {
            format!("{problem}; trying again in {}", crate::duration::duration(due.ms_since(at)))
        }
        Follows::Other(next) => format!("{problem}; {next}"),
        Follows::Nothing => problem,
    };
    NarratedLine::new(Tone::Failure, text)
}

/// What follows a failed attempt, in words unless it is a retry.
enum Follows {
    Retry(Timestamp),
    Other(String),
    Nothing,
}

fn what_follows(next: &NextAttempt) -> Follows {
    Follows::Other(match next {
        NextAttempt::Retry { at } => return Follows::Retry(*at),
        NextAttempt::Model { model } => format!("trying {model} instead"),
        NextAttempt::Whole => "asking for the whole reply at once".to_owned(),
        NextAttempt::Dialect { .. } => "going on with calls written as text".to_owned(),
        NextAttempt::Output { form: OutputForm::Tool } => "asking for the output by a tool".to_owned(),
        NextAttempt::Output { form: OutputForm::Schema | OutputForm::Prompt } => {
            "asking for the output by the instructions alone".to_owned()
        }
        NextAttempt::Shorter => "trying again with a shorter history".to_owned(),
        NextAttempt::PlainSummary => "going on with a plain summary".to_owned(),
        NextAttempt::End => return Follows::Nothing,
    })
}
