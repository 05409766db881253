//! Stopping a run (L8): a stop acts at once, text streamed so far is kept, and messages that no model has seen yet are
//! dropped.

use windlass_vocab::{
    CancelAsked, EndReason, Intent, MessageId, ModelReplied, Part, Steering, StopBy, StopReason, TurnMode, Usage,
};

use crate::AttemptKey;
use crate::blank::is_blank;
use crate::control::{Phase, Run};
use crate::draft::Draft;

impl Draft<'_> {
    /// Stops the run at once; if a model is being called, the run ends only after its streamed text was handed back, and if
    /// a child session works on a step, only after that one was stopped.
    pub(crate) fn stop(&mut self, by: StopBy) {
        let Some(run) = self.run().filter(|run| run.stop.is_none()) else { return };
        let hands_back = matches!(run.phase, Phase::Modelling(_) | Phase::Stepping(_)) && run.parked.is_none();
        self.push(CancelAsked { by });
        if !hands_back {
            self.end(EndReason::Cancelled, "", None);
        }
    }

    /// Records what an aborted model call had streamed and what it is charged, and ends the run.
    pub(crate) fn hand_back(&mut self, key: AttemptKey, text: String, usage: Usage) {
        let Some((run, attempt)) = self.current(key).filter(|(run, _)| run.stop.is_some()) else { return };
        let role = attempt.mode.role();
        let parts = if is_blank(&text) { Vec::new() } else { vec![Part::Text { text: text.clone() }] };
        if !parts.is_empty() || usage != Usage::default() {
            let reply = run.plain_reply((key, attempt), parts, StopReason::Stop, usage);
            self.push(ModelReplied { partial: true, ..reply });
        }
        // Neither a summary nor a plan is an answer.
        let answer = if role.is_of_conversation() { text } else { String::new() };
        self.end(EndReason::Cancelled, answer, None);
    }
}

impl Run {
    /// Whether a new message joins the run (L7): not when the run is being stopped or wrapped up, because the model
    /// would never see the message; nor while a plan is made and carried out, which is about what was said before it; nor
    /// where the run is known or found to need no tools, because the message may need some.
    #[must_use]
    pub fn takes_words(&self) -> bool {
        let takes = match &self.phase {
            Phase::Modelling(attempt) => match attempt.mode {
                TurnMode::WrapUp | TurnMode::Plan | TurnMode::Synthesis | TurnMode::Route => false,
                TurnMode::Tools | TurnMode::Talk | TurnMode::Summary | TurnMode::Title => true,
            },
            Phase::Stepping(_) => false,
            Phase::Pinning | Phase::Calling(_) | Phase::Between => true,
        };
        let has_tools = self.intent != Some(Intent::Direct);
        self.policy().steering == Steering::Inject && self.stop.is_none() && takes && has_tools
    }

    /// Returns the messages that a stop drops: those that joined the run and that no model has seen. A person's stop
    /// applies to everything they have sent so far; a deadline or a fork does not.
    #[must_use]
    pub fn dropped_by(&self, by: StopBy) -> &[MessageId] {
        match by {
            StopBy::Person => &self.unseen,
            StopBy::Deadline | StopBy::Fork => &[],
        }
    }
}
