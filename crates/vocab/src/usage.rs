//! What a model call cost.

use serde::{Deserialize, Serialize};

/// Money in billionths of a unit of its currency; integers, so that sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NanoMoney(pub i64);

/// Tokens counted by the provider, or estimated where it said nothing.
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

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
        self.calls += other.calls;
        self.estimated |= other.estimated;
    }
}
