//! What model calls have spent, and the limits on it (M7).

use serde::{Deserialize, Serialize};

use crate::{Dollars, NanoMoney, Policy, Usage};

/// What model calls have spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Money, for the calls of models whose prices are known; in US dollars.
    #[serde(default)]
    pub cost: NanoMoney,
    /// Tokens sent and received.
    #[serde(default)]
    pub tokens: u64,
}

impl Spending {
    /// Returns what one call has spent. A cost that is not known counts as nothing.
    #[must_use]
    pub fn of_call(usage: &Usage, cost: Option<NanoMoney>) -> Self {
        Self { cost: cost.unwrap_or_default(), tokens: usage.input.saturating_add(usage.output) }
    }
}

impl std::ops::AddAssign for Spending {
    /// Saturating, because servers may report any count.
    fn add_assign(&mut self, other: Self) {
        self.cost = NanoMoney(self.cost.0.saturating_add(other.cost.0));
        self.tokens = self.tokens.saturating_add(other.tokens);
    }
}

/// A limit on what model calls may spend: a row of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpendingLimit {
    /// The money of one run.
    RunCost,
    /// The tokens of one run.
    RunTokens,
    /// The time of one run.
    RunTime,
    /// The money of all runs of the session.
    SessionCost,
    /// The tokens of all runs of the session.
    SessionTokens,
    /// The money of all sessions on the day the run began.
    DayCost,
    /// The tokens of all sessions on the day the run began.
    DayTokens,
    /// The money of all sessions of the agent on the day the run began.
    AgentCost,
    /// The tokens of all sessions of the agent on the day the run began.
    AgentTokens,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// Billionths of a US dollar.
    Cost,
    /// Tokens sent and received.
    Tokens,
    /// Milliseconds since the run began.
    Time,
}

impl SpendingLimit {
    /// Every limit, in the order in which they are checked.
    pub const ALL: [Self; 9] = [
        Self::RunCost,
        Self::RunTokens,
        Self::RunTime,
        Self::SessionCost,
        Self::SessionTokens,
        Self::DayCost,
        Self::DayTokens,
        Self::AgentCost,
        Self::AgentTokens,
    ];

    /// Returns the name of its row in the policy.
    #[must_use]
    pub const fn row(self) -> &'static str {
        match self {
            Self::RunCost => "run_cost_limit",
            Self::RunTokens => "run_token_limit",
            Self::RunTime => "run_time_limit_ms",
            Self::SessionCost => "session_cost_limit",
            Self::SessionTokens => "session_token_limit",
            Self::DayCost => "day_cost_limit",
            Self::DayTokens => "day_token_limit",
            Self::AgentCost => "agent_cost_limit",
            Self::AgentTokens => "agent_token_limit",
        }
    }

    /// Returns what it counts.
    #[must_use]
    pub const fn unit(self) -> LimitUnit {
        match self {
            Self::RunCost | Self::SessionCost | Self::DayCost | Self::AgentCost => LimitUnit::Cost,
            Self::RunTokens | Self::SessionTokens | Self::DayTokens | Self::AgentTokens => LimitUnit::Tokens,
            Self::RunTime => LimitUnit::Time,
        }
    }

    /// Returns the value that the policy sets, in its unit.
    #[must_use]
    pub fn in_policy(self, policy: &Policy) -> Option<u64> {
        let cost = |limit: Option<Dollars>| limit.map(Dollars::nano);
        let count = |limit: Option<std::num::NonZeroU64>| limit.map(std::num::NonZeroU64::get);
        match self {
            Self::RunCost => cost(policy.run_cost_limit),
            Self::RunTokens => count(policy.run_token_limit),
            Self::RunTime => count(policy.run_time_limit_ms),
            Self::SessionCost => cost(policy.session_cost_limit),
            Self::SessionTokens => count(policy.session_token_limit),
            Self::DayCost => cost(policy.day_cost_limit),
            Self::DayTokens => count(policy.day_token_limit),
            Self::AgentCost => cost(policy.agent_cost_limit),
            Self::AgentTokens => count(policy.agent_token_limit),
        }
    }
}

/// What all other runs have spent on the same day, of the limits that they share with a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentElsewhere {
    /// Those of all agents.
    #[serde(default)]
    pub day: Spending,
    /// Those of the run's agent.
    #[serde(default)]
    pub agent: Spending,
}

impl Policy {
    /// Whether it limits what all sessions of a day spend.
    #[must_use]
    pub const fn limits_the_day(&self) -> bool {
        self.day_cost_limit.is_some() || self.day_token_limit.is_some()
    }

    /// Whether it limits what all sessions of the agent spend on a day.
    #[must_use]
    pub const fn limits_the_agent(&self) -> bool {
        self.agent_cost_limit.is_some() || self.agent_token_limit.is_some()
    }

    /// Whether it has a limit on which other runs draw, too.
    #[must_use]
    pub const fn has_shared_limit(&self) -> bool {
        self.limits_the_day() || self.limits_the_agent()
    }
}
