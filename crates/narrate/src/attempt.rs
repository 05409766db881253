//! A failed model call, and what follows it.

use windlass_vocab::{AttemptFailed, FailureCause, ModelName, NextAttempt, OutputForm, Policy, Timestamp};

use crate::activity::Activity;
use crate::harmless::{TEXT, short_line};
use crate::line::{NarratedLine, Tone};

/// Returns why an attempt failed, in a few words.
fn problem_of_attempt(attempt: &AttemptFailed) -> String {
    if attempt.failure.status == Some(429) {
        return short_line(&format!("{} is rate limited", attempt.model), TEXT);
    }
    short_line(attempt.failure.message.trim_end_matches('.'), TEXT)
}

/// What is known of a turn's failed attempts.
#[derive(Debug, Default)]
pub(crate) struct LastRetry {
    /// The problem of the last reported retry, until something else happens.
    problem: Option<String>,
    /// The same, with the number of the try that follows.
    problem_and_try: String,
    /// Attempts of the turn that repeated a try in another way, as the policy counts tries.
    repeats: u32,
    /// The model that failed last in this turn, and how many of its tries have failed.
    failed: Option<(ModelName, u32)>,
    /// How many tries the run's policy gives a model; unknown where the beginning of the run was not seen.
    most: Option<u32>,
}

impl LastRetry {
    /// Forgets the problem, because something else happened.
    pub(crate) fn forget(&mut self) {
        self.problem = None;
    }

    /// Another turn begins.
    pub(crate) fn begin_turn(&mut self) {
        self.repeats = 0;
        self.failed = None;
    }

    /// A run under this policy begins.
    pub(crate) fn begin_run(&mut self, policy: &Policy) {
        self.most = Some(policy.retry.tries);
    }

    /// Returns why the last attempt failed, and which try follows.
    pub(crate) fn problem_and_try(&self) -> &str {
        &self.problem_and_try
    }

    /// Counts a failed try. Returns the number of the next one: ` (try 2 of 6)`; empty where it is not known how many
    /// there are.
    fn next_try(&mut self, attempt: &AttemptFailed) -> String {
        let before = self.failed.take().filter(|(model, _)| *model == attempt.model).map_or(0, |(_, tries)| tries);
        let tries = before + u32::from(!repeats_try(&attempt.next));
        self.failed = Some((attempt.model.clone(), tries));
        // A server that does not run is tried less often.
        match self.most.filter(|most| *most > tries && !attempt.failure.not_running) {
            Some(most) => format!(" (try {} of {most})", tries + 1),
            None => String::new(),
        }
    }

    /// Returns why an attempt failed and what follows; `None` if the end of the run says it all. A retry for the last
    /// reported reason gets the tone `Passing`: repeated retries are not worth a line each.
    pub(crate) fn brief(&mut self, attempt: &AttemptFailed, at: Timestamp) -> Option<NarratedLine> {
        let (problem, told) = (problem_of_attempt(attempt), self.problem.take());
        self.repeats += u32::from(repeats_try(&attempt.next));
        let next_try = self.next_try(attempt);
        let next = match what_follows(attempt) {
            Follows::Retry(due) => {
                let tone = if told.as_ref() == Some(&problem) { Tone::Passing } else { Tone::Delay };
                self.problem_and_try = problem.clone() + &next_try;
                self.problem = Some(problem);
                let retry = Activity::Retry { left_ms: due.ms_since(at), why: &self.problem_and_try };
                return Some(NarratedLine::new(tone, retry.to_string()));
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
    let problem = match attempt.failure.status {
        Some(429) => problem_of_attempt(attempt),
        Some(_) | None => format!("{}: {}", attempt.model, problem_of_attempt(attempt)),
    };
    let text = match what_follows(attempt) {
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

fn what_follows(attempt: &AttemptFailed) -> Follows {
    Follows::Other(match &attempt.next {
        NextAttempt::Retry { at } => return Follows::Retry(*at),
        NextAttempt::Model { model } => format!("trying {model} instead"),
        NextAttempt::Whole => "asking for the whole reply at once".to_owned(),
        NextAttempt::Dialect { .. } => "going on with calls written as text".to_owned(),
        NextAttempt::Output { form: OutputForm::Tool } => "asking for the output by a tool".to_owned(),
        NextAttempt::Output { form: OutputForm::Schema | OutputForm::Prompt } => {
            "going on without the schema, by the instructions alone".to_owned()
        }
        NextAttempt::Shorter if attempt.failure.cause == Some(FailureCause::ImageRefused) => {
            "trying again without the images".to_owned()
        }
        NextAttempt::Shorter => "trying again with a shorter history".to_owned(),
        NextAttempt::PlainSummary => "going on with a plain summary".to_owned(),
        NextAttempt::End => return Follows::Nothing,
    })
}
