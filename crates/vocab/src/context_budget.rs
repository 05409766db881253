//! What fills a model's context window when a turn starts (C3).

use serde::{Deserialize, Serialize};

/// The parts of a request, in tokens, and what they leave of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextBudget {
    /// The window of the model that the turn calls first, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The system text.
    pub prefix: u64,
    /// The definitions of the offered tools, as they are sent.
    pub tools: u64,
    /// The conversation, and the lines for this turn only.
    pub history: u64,
    /// Set aside for passages that are found for this turn only: the most they may take.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retrieved: u64,
    /// Kept free for the reply.
    #[serde(default)]
    pub reserve: u64,
    /// Kept free because counts are estimates.
    #[serde(default)]
    pub safety: u64,
    /// What is left of the window; absent where the window is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
}

impl ContextBudget {
    /// Returns the tokens of the whole request.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.prefix.saturating_add(self.tools).saturating_add(self.history).saturating_add(self.retrieved)
    }

    /// Returns the budget of a turn that is sent no passages.
    #[must_use]
    pub fn without_passages(self) -> Self {
        let remaining = self.remaining.map(|remaining| remaining.saturating_add(self.retrieved));
        Self { retrieved: 0, remaining, ..self }
    }

    /// Returns how long the reply can be at most, where the window is known.
    #[must_use]
    pub fn reply_room(&self) -> Option<u64> {
        self.window.map(|window| window.saturating_sub(self.used()).saturating_sub(self.safety))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}
