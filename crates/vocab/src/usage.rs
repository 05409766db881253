//! Token counts and cost of model calls.

use serde::{Deserialize, Serialize};

/// Money in billionths of a unit of its currency; integers, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NanoMoney(pub i64);

/// Tokens counted by the provider, or estimated where it gave no count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, cached ones included.
    #[serde(default)]
    pub input: u64,
    /// Tokens received, reasoning included.
    #[serde(default)]
    pub output: u64,
    /// Of `input`, read from the provider's cache.
    #[serde(default)]
    pub cached: u64,
    /// Of `input`, written to the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_written: u64,
    /// Of `output`, spent on reasoning.
    #[serde(default)]
    pub reasoning: u64,
    /// How many model calls are counted here.
    #[serde(default)]
    pub calls: u32,
    /// Set when any part of the count is our estimate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl std::ops::AddAssign for Usage {
    /// Saturating, because servers may report any count.
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_written = self.cache_written.saturating_add(other.cache_written);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.calls = self.calls.saturating_add(other.calls);
        self.estimated = self.estimated || other.estimated;
    }
}
