//! The context budget (C3): what a turn sends, and when older turns must be left out.

use windlass_vocab::{ContextBudget, MaxTokens, ModelName, Retrieve};

use crate::control::Run;
use crate::counting::{ContextMeter, passage_bytes};
use crate::state::State;

/// Older turns are left out when less than this is left of the window, or a quarter of it where that is less.
const EVICT_BELOW: u64 = 5_000;
/// The run is wrapped up when less than this is left and nothing more can be left out, or a sixteenth of the window.
const WRAP_UP_BELOW: u64 = 1_500;
/// The most tokens of a model's summary. It is asked for less; a model that thinks first needs some for that.
const SUMMARY: u32 = 4_096;
/// Kept free for the reply where the model's own limit is unknown.
const RESERVE: u64 = 4_096;
/// Kept free for the reply at most: a model's own limit may be a large part of its window, and replies are short.
const LARGEST_RESERVE: u64 = 8_192;
/// The most tokens of passages in a turn.
const PASSAGES: u64 = 1_000;
/// Passages take at most this part of what is left above the tokens at which older turns are left out.
const PASSAGES_SHARE: u64 = 4;

impl Run {
    /// Returns what a request to this model needs, and what it leaves of the window.
    pub(crate) fn budget(&self, meter: &ContextMeter, model: &ModelName) -> ContextBudget {
        let request = meter.tokens(model);
        let mut budget = ContextBudget {
            window: self.window(model),
            prefix: request.prefix,
            tools: request.tools,
            history: request.history,
            ..ContextBudget::default()
        };
        if let Some(window) = budget.window {
            // A small window needs its room for the conversation.
            budget.reserve = self.reserve(model).min(window / 8);
            budget.safety = window / 32;
            budget.remaining = budget.reply_room().map(|room| room.saturating_sub(budget.reserve));
        }
        budget.retrieved = self.passage_tokens(&budget);
        budget.remaining = budget.remaining.map(|remaining| remaining.saturating_sub(budget.retrieved));
        budget
    }

    /// Returns the most tokens that passages may take in the next turn. They never cause older turns to be left out.
    fn passage_tokens(&self, budget: &ContextBudget) -> u64 {
        let most = self.most_passages();
        match budget.window.zip(budget.remaining) {
            Some((window, remaining)) => most.min(remaining.saturating_sub(evict_below(window)) / PASSAGES_SHARE),
            None => most,
        }
    }

    /// Returns the most tokens that passages may take in any turn.
    pub(crate) fn most_passages(&self) -> u64 {
        match self.policy().retrieve {
            Retrieve::Off => 0,
            Retrieve::Own | Retrieve::Workspace => PASSAGES,
        }
    }

    fn reserve(&self, model: &ModelName) -> u64 {
        match self.policy().sampling.max_tokens {
            MaxTokens::Fixed(tokens) => tokens.into(),
            MaxTokens::ModelOwn | MaxTokens::Budget => {
                let known = self.started.model(model).and_then(|model| model.max_output);
                known.unwrap_or(RESERVE).min(LARGEST_RESERVE)
            }
        }
    }

    /// Returns the length limit for the replies of the current turn, with `budget` resolved to a number.
    #[must_use]
    pub fn length_limit(&self) -> MaxTokens {
        if self.summary.is_some() {
            let window = self.window(&self.current_model()).and_then(|window| u32::try_from(window / 4).ok());
            return MaxTokens::Fixed(SUMMARY.min(window.unwrap_or(SUMMARY)));
        }
        let limit = self.policy().sampling.max_tokens;
        let room = self.budget.as_ref().and_then(ContextBudget::reply_room);
        match (limit, room) {
            (MaxTokens::Budget, Some(room)) => {
                let known = self.started.model(&self.current_model()).and_then(|model| model.max_output);
                let room = known.map_or(room, |most| room.min(most)).max(1);
                MaxTokens::Fixed(u32::try_from(room).unwrap_or(u32::MAX))
            }
            (MaxTokens::Budget, None) => MaxTokens::ModelOwn,
            (MaxTokens::Fixed(_) | MaxTokens::ModelOwn, _) => limit,
        }
    }
}

impl State {
    /// Estimates the tokens of a request to this model with the conversation so far, without passages (C4).
    #[must_use]
    pub fn request_tokens(&self, model: &ModelName) -> u64 {
        self.transcript.meter.tokens(model).total()
    }

    /// Returns the most bytes of passages that the current turn may send (C10); none outside of a turn.
    #[must_use]
    pub fn passage_room(&self) -> usize {
        let Some(run) = &self.control.run else { return 0 };
        let tokens = run.budget.as_ref().map_or(0, |budget| budget.retrieved);
        let estimated = self.transcript.meter.estimated(&run.current_model(), tokens);
        usize::try_from(passage_bytes(estimated)).unwrap_or(usize::MAX)
    }
}

/// Returns the tokens below which older turns are left out.
pub(crate) fn evict_below(window: u64) -> u64 {
    EVICT_BELOW.min(window / 4)
}

/// Returns the tokens below which the run is wrapped up.
pub(crate) fn wrap_up_below(window: u64) -> u64 {
    WRAP_UP_BELOW.min(window / 16)
}

/// Whether so little is left that the run must be wrapped up.
pub(crate) fn is_spent(budget: &ContextBudget) -> bool {
    budget.window.zip(budget.remaining).is_some_and(|(window, remaining)| remaining < wrap_up_below(window))
}

/// Whether what must be sent is longer than the window: then not even a report on what is done can be asked for.
pub(crate) fn exceeds_window(budget: &ContextBudget) -> bool {
    budget.window.is_some_and(|window| budget.used() >= window)
}

/// Whether older turns must be left out.
pub(crate) fn is_short(budget: &ContextBudget) -> bool {
    budget.window.zip(budget.remaining).is_some_and(|(window, remaining)| remaining < evict_below(window))
}
