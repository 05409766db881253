//! The context budget (C3): what fills the context window when a turn starts.

use windlass_vocab::{ContextBudget, MaxTokens, ModelName};

use crate::control::Run;
use crate::counting::ContextMeter;

/// Kept free for the reply where the model's own limit is unknown.
const RESERVE: u64 = 4_096;
/// Kept free for the reply at most: a model's own limit may be a large part of its window, and replies are short.
const LARGEST_RESERVE: u64 = 8_192;

impl Run {
    /// Returns the size of a model's window, where it is known.
    pub(crate) fn window(&self, model: &ModelName) -> Option<u64> {
        self.started.model(model)?.window.filter(|window| *window > 0)
    }

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
            budget.reserve = self.reserve(model).min(window / 4);
            budget.safety = window / 32;
            budget.remaining = budget.reply_room().map(|room| room.saturating_sub(budget.reserve));
        }
        budget
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
