//! A limit that the next model call would exceed (M7), and what people are told about it.

use windlass_vocab::{Dollars, LimitUnit, SpendingLimit};

use crate::texts;

/// A limit that the next model call would exceed; the numbers are in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) limit: SpendingLimit,
    /// The value in the policy.
    pub(crate) own: u64,
    /// What is allowed now: the value in the policy, or more where a person agreed to it.
    pub(crate) allowed: u64,
    /// What was spent.
    pub(crate) spent: u64,
    /// What would be spent after the call.
    pub(crate) needed: u64,
}

impl Breach {
    /// Returns what is allowed if a person agrees: enough for the call, in steps of the limit's own value.
    pub(crate) fn raised(&self, answer_wait_ms: u64) -> u64 {
        match self.limit.unit() {
            LimitUnit::Cost | LimitUnit::Tokens => self.needed.div_ceil(self.own.max(1)).saturating_mul(self.own),
            // The time until the answer is not the run's.
            LimitUnit::Time => self.needed.saturating_add(self.own).saturating_add(answer_wait_ms),
        }
    }

    /// Returns the question whether to exceed the limit.
    pub(crate) fn question(&self, raised_to: u64) -> String {
        let how_long = match self.limit {
            SpendingLimit::RunCost | SpendingLimit::RunTokens | SpendingLimit::RunTime => "for this run",
            SpendingLimit::SessionCost | SpendingLimit::SessionTokens => "for this session",
            // The next run is held to the limit as it is set.
            SpendingLimit::DayCost
            | SpendingLimit::DayTokens
            | SpendingLimit::AgentCost
            | SpendingLimit::AgentTokens => "for this run only",
        };
        format!("{} Raise it to {} {how_long} and go on?", self.sentence(), amount(self.limit, raised_to))
    }

    /// Returns the answer of a run that ends at the limit.
    pub(crate) fn end(&self) -> String {
        format!("{} What was done so far is kept.", self.sentence())
    }

    fn sentence(&self) -> String {
        let of = |value: u64| amount(self.limit, value);
        let (row, spent, allowed) = (self.limit.row(), of(self.spent), of(self.allowed));
        let next = match (self.limit.unit(), self.needed.saturating_sub(self.spent)) {
            (LimitUnit::Time, _) | (_, 0) => String::new(),
            (LimitUnit::Cost | LimitUnit::Tokens, next) => {
                format!(", and the next model call would need about {} more", of(next))
            }
        };
        format!("The limit {row} is {allowed}: {spent} spent{next}.")
    }
}

/// Returns an amount in the unit of a limit, for people.
fn amount(limit: SpendingLimit, amount: u64) -> String {
    match limit.unit() {
        LimitUnit::Cost => Dollars::of_nano(amount).for_people(),
        LimitUnit::Tokens => format!("{amount} tokens"),
        LimitUnit::Time => texts::span(amount),
    }
}
