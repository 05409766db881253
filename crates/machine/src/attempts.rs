//! The attempts of a turn: which model each calls, what it costs, and what a failed one leads to.

use std::collections::BTreeSet;

use windlass_vocab::{AttemptFailed, ContextPinned, ModelName, NanoMoney, NextAttempt, PinnedContext, TurnMode, Usage};

use crate::control::{Attempt, Phase, Run};
use crate::draft::Draft;
use crate::effect::AttemptKey;

impl Run {
    /// Whether prefix and offer must be collected before anything else.
    #[must_use]
    pub fn wants_context(&self) -> bool {
        match &self.phase {
            Phase::Pinning => true,
            Phase::Modelling(attempt) => attempt.unpinned,
            Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => false,
        }
    }

    /// Returns the model at this index of the chain.
    #[must_use]
    pub fn model(&self, place: usize) -> ModelName {
        self.started.chain.get(place).or_else(|| self.started.chain.last()).cloned().unwrap_or_default()
    }

    /// Returns the model of an attempt.
    pub(crate) fn model_of(&self, attempt: &Attempt) -> ModelName {
        let chain = self.started.chain_of(attempt.mode.role());
        chain.get(attempt.model).or_else(|| chain.last()).cloned().unwrap_or_default()
    }

    /// Returns how many turns count against the turn cap.
    pub(crate) fn counted_turns(&self) -> u32 {
        self.turn.0.saturating_sub(self.summaries)
    }

    /// Returns the model that is being called, or the first of the chain.
    #[must_use]
    pub fn current_model(&self) -> ModelName {
        match &self.phase {
            Phase::Modelling(attempt) => self.model_of(attempt),
            Phase::Pinning | Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => self.model(0),
        }
    }

    /// Returns the model that is being called.
    pub(crate) fn called_model(&self) -> Option<ModelName> {
        match &self.phase {
            Phase::Modelling(attempt) => Some(self.model_of(attempt)),
            Phase::Pinning | Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => None,
        }
    }

    /// Returns what a call of this model cost, where its prices are known (M7).
    pub(crate) fn cost(&self, model: &ModelName, usage: &Usage) -> Option<NanoMoney> {
        Some(self.started.model(model)?.prices?.cost_of_call(usage))
    }

    /// Applies the failure of an attempt: what follows it.
    pub(crate) fn attempt_failed(&mut self, failed: &AttemptFailed) {
        self.usage += failed.usage.unwrap_or_default();
        let counted = failed.failure.spent_elsewhere.as_deref();
        self.spent_elsewhere = counted.copied().unwrap_or(self.spent_elsewhere);
        let Phase::Modelling(attempt) = &mut self.phase else { return };
        attempt.number += 1;
        attempt.not_before = None;
        match &failed.next {
            NextAttempt::Retry { at } => {
                // A call that was not made is no try.
                attempt.tries += u32::from(counted.is_none());
                attempt.whole = false;
                attempt.not_before = Some(*at);
            }
            NextAttempt::Model { .. } => {
                attempt.model += 1;
                attempt.tries = 1;
                attempt.whole = false;
            }
            NextAttempt::Whole => attempt.whole = true,
            NextAttempt::Shorter | NextAttempt::Output { .. } => {}
            NextAttempt::Dialect { .. } => attempt.unpinned = true,
            // Without a router's verdict the run begins as one without a router.
            NextAttempt::End if attempt.mode == TurnMode::Route => self.phase = Phase::Pinning,
            NextAttempt::PlainSummary | NextAttempt::End => self.phase = Phase::Between,
        }
    }
}

impl Draft<'_> {
    /// Returns the attempt with this key, if it is the current one.
    pub(crate) fn current(&self, key: AttemptKey) -> Option<(&Run, &Attempt)> {
        let run = self.run().filter(|run| run.attempt_key() == Some(key))?;
        match &run.phase {
            Phase::Modelling(attempt) => Some((run, attempt)),
            Phase::Pinning | Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => None,
        }
    }

    /// Pins a new context for the open run; the current turn continues unchanged.
    pub(crate) fn pin_anew(&mut self, context: PinnedContext, joined: BTreeSet<String>) {
        let pinned = self.run().is_some_and(|run| !run.wants_context());
        if pinned && self.state.transcript.context.as_deref() != Some(&context) {
            self.push(ContextPinned { context: Some(context), joined, overview: None });
        }
    }
}
