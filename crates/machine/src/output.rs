//! Typed output (L10): an answer that must fit a schema ends the run only if it does; one that does
//! not is sent back to the model with what is wrong, so many times and no more.
//!
//! Whether JSON fits its schema is a fact like any other: it comes in with the reply and is recorded
//! with it, so that a journal is decided the same way again without a validator.

use std::sync::Arc;

use windlass_vocab::{EndReason, Failure, FailureClass, Json, NudgeCause, TurnMode};

use crate::blank::is_blank;
use crate::draft::Draft;
use crate::missing_calls::SAME_NUDGES;
use crate::texts;

/// The JSON in a model's answer: all of it, or what stands between its first opening bracket and its
/// last closing one, for models like to put words or a fence around it.
///
/// ```
/// let found = windlass_machine::read_output("Here it is:\n```json\n{\"n\": 1}\n```")?;
/// assert_eq!(found.as_str(), "{\"n\": 1}");
/// # Ok::<(), String>(())
/// ```
pub fn read_output(answer: &str) -> Result<Json, String> {
    let whole = answer.trim();
    if whole.is_empty() {
        return Err("It is empty.".to_owned());
    }
    let error = match Json::parse(whole) {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    let within = whole.find(['{', '[']).zip(whole.rfind(['}', ']']));
    let inner = within.and_then(|(from, to)| Json::parse(whole.get(from..=to)?).ok());
    inner.ok_or_else(|| format!("It is not well-formed JSON: {error}."))
}

impl Draft<'_> {
    /// The answer is there: it ends the run, unless an output was asked for that it does not fit.
    pub(crate) fn complete(&mut self, misfit: Option<String>) {
        let Some(run) = self.run() else { return };
        let answer = Arc::clone(&run.answer);
        if run.started.output.is_none() {
            // Half an answer must not be taken for a whole one.
            let reason = if self.was_cut_off() { EndReason::Unfinished } else { EndReason::Completed };
            return self.end(reason, answer.as_ref(), None);
        }
        match misfit.map_or_else(|| read_output(&answer), Err) {
            Ok(output) => self.end_with(EndReason::Completed, answer.as_ref(), None, Some(output)),
            Err(what) => self.send_back(&what, &answer),
        }
    }

    fn send_back(&mut self, what: &str, answer: &str) {
        let Some(run) = self.run() else { return };
        let left = run.policy().output_corrections.saturating_sub(run.corrections);
        if left == 0 {
            let failure = Failure::new(FailureClass::Protocol, texts::misfit_to_the_end(what));
            // An empty reply is no attempt at an output that failed, but no answer at all (S2).
            let reason = if is_blank(answer) { EndReason::Unfinished } else { EndReason::Failed };
            return self.end(reason, failure.message.clone(), Some(failure));
        }
        let text = match &run.started.output {
            Some(output) if run.corrections >= SAME_NUDGES => texts::misfit_plainly(what, output.schema.as_str()),
            Some(_) | None => texts::misfit(what),
        };
        self.nudge(NudgeCause::Misfit, what, &text);
        // Some servers can hold an answer to a schema only where no tool is offered: the last try.
        self.next_turn_in(if left == 1 { TurnMode::Talk } else { self.usual_mode() });
    }
}
