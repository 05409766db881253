//! Typed output (L10): an answer that must fit a schema ends the run only if it fits. Otherwise it is sent back to the
//! model with the error, up to the number of times that the policy allows.
//!
//! Whether JSON fits its schema is part of the input: it arrives with the reply and is recorded with it, so that
//! replaying a journal needs no validator.

use std::sync::Arc;

use windlass_vocab::{Dialect, EndReason, Failure, FailureClass, Json, ModelName, NudgeCause, OutputForm, TurnMode};

use crate::blank::is_blank;
use crate::control::{Attempt, LoopState, Run};
use crate::draft::Draft;
use crate::missing_calls::SAME_NUDGES;
use crate::texts;

/// Returns the JSON in a model's answer: all of it, or the part from its first opening bracket to its last closing one,
/// because models often put words or a fence around it.
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

impl LoopState {
    /// Returns the form in which this model is asked for an output.
    #[must_use]
    pub fn output_form(&self, model: &ModelName) -> OutputForm {
        self.output_forms.get(model).copied().unwrap_or_default()
    }

    /// Whether this model was told in the open run that its reply is one JSON object, a call or an answer (T4).
    #[must_use]
    pub fn answers_in_json(&self, model: &ModelName) -> bool {
        let is_told = self.run.as_ref().is_some_and(|run| run.started.asks_for_json_answers());
        is_told && self.dialect_of(model) == Some(Dialect::BareJson)
    }

    /// Whether the server of this model is asked to hold such replies to their schema: where its entry asks for it, and until
    /// it refuses that.
    #[must_use]
    pub fn constrains(&self, model: &ModelName) -> bool {
        let run = self.run.as_ref();
        let is_asked = run.and_then(|run| run.started.model(model)).is_some_and(|model| model.constrained);
        is_asked && self.answers_in_json(model) && self.output_form(model) == OutputForm::Schema
    }
}

impl Draft<'_> {
    /// Returns the form in which the model is asked next, where its server refused the one of this attempt.
    pub(crate) fn other_output_form(&self, run: &Run, attempt: &Attempt, failure: &Failure) -> Option<OutputForm> {
        let model = run.model_of(attempt);
        if run.started.output.is_none() {
            // A schema that holds calls is one more thing a server may refuse, whatever it says of it.
            let refused = failure.class == FailureClass::BadRequest && matches!(failure.status, Some(400 | 422));
            let is_held = attempt.mode == TurnMode::Tools && self.control.constrains(&model);
            return (is_held && refused).then_some(OutputForm::Prompt);
        }
        let form = self.control.output_form(&model);
        if failure.no_tools {
            return Some(OutputForm::Prompt).filter(|prompt| *prompt != form);
        }
        form.next().filter(|_| failure.output_refused)
    }

    /// Whether the only tool that a request may have is that of the output.
    pub(crate) fn offers_output_alone(&self, run: &Run) -> bool {
        let offers = self.state.transcript.context.as_ref().is_some_and(|context| !context.offer.is_empty());
        run.started.output.is_some() && !offers
    }

    /// Ends the run with the answer, unless it does not fit the requested output.
    pub(crate) fn complete(&mut self, misfit: Option<String>) {
        let Some(run) = self.run() else { return };
        let answer = Arc::clone(&run.answer);
        if run.started.output.is_none() {
            // An incomplete answer must not count as complete.
            let is_whole = !self.was_cut_off() && !self.was_paused();
            let reason = if is_whole { EndReason::Completed } else { EndReason::Unfinished };
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
            // An empty reply is not a failed output but no answer at all (S2).
            let reason = if is_blank(answer) { EndReason::Unfinished } else { EndReason::Failed };
            return self.end(reason, failure.message.clone(), Some(failure));
        }
        let text = match &run.started.output {
            Some(output) if run.corrections >= SAME_NUDGES => texts::misfit_plainly(what, output.schema.as_str()),
            Some(_) | None => texts::misfit(what),
        };
        self.nudge(NudgeCause::Misfit, what, &text);
        // Some servers can enforce a schema only where no tool is offered: used for the last try.
        self.next_turn_in(if left == 1 { TurnMode::Talk } else { self.usual_mode() });
    }
}
