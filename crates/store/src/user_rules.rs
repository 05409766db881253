//! Rules that users allowed for good: kept in the store, by user and folder, where a door has no settings file of the
//! person's own to write into.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use windlass_vocab::Timestamp;

/// The most rules of one user.
pub const MOST_USER_RULES: usize = 1_000;

/// The number of a kept rule; no number is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserRuleId(pub u64);

impl fmt::Display for UserRuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for UserRuleId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

/// What a user allowed for good: the calls of a rule, in one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedRule {
    /// The user.
    pub user: String,
    /// The workspace in which the person saw the call.
    pub folder: String,
    /// The rule, as the person saw it.
    pub rule: String,
    /// When it was allowed.
    pub at: Timestamp,
}

/// A rule as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRule {
    /// Its number.
    pub id: UserRuleId,
    /// What is allowed.
    pub allowed: AllowedRule,
}

/// Whether a rule could be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepOutcome {
    /// It is kept, now or since an earlier answer.
    Kept(UserRuleId),
    /// The user has as many rules as there may be.
    TooMany,
}

/// Whether a rule was there to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgetOutcome {
    /// It was, and is gone.
    Forgotten,
    /// The user has no such rule.
    NotThere,
}
