//! What users allowed for good, in memory.

use crate::user_rules::MOST_USER_RULES;
use crate::{AllowedRule, ForgetOutcome, KeepOutcome, KeptRule, UserRuleId};

/// The rules of all users, the oldest first.
#[derive(Default)]
pub(crate) struct MemoryRules {
    rules: Vec<KeptRule>,
    /// How many were ever kept: the number of the next is one more.
    ever: u64,
}

impl MemoryRules {
    pub(crate) fn keep(&mut self, allowed: AllowedRule) -> KeepOutcome {
        let is_same = |kept: &&KeptRule| {
            let kept = &kept.allowed;
            kept.user == allowed.user && kept.folder == allowed.folder && kept.rule == allowed.rule
        };
        if let Some(known) = self.rules.iter().find(is_same) {
            return KeepOutcome::Kept(known.id);
        }
        if self.rules.iter().filter(|kept| kept.allowed.user == allowed.user).count() >= MOST_USER_RULES {
            return KeepOutcome::TooMany;
        }
        self.ever += 1;
        let id = UserRuleId(self.ever);
        self.rules.push(KeptRule { id, allowed });
        KeepOutcome::Kept(id)
    }

    pub(crate) fn of(&self, user: &str) -> Vec<KeptRule> {
        self.rules.iter().filter(|kept| kept.allowed.user == user).cloned().collect()
    }

    pub(crate) fn forget(&mut self, user: &str, id: UserRuleId) -> ForgetOutcome {
        let before = self.rules.len();
        self.rules.retain(|kept| kept.id != id || kept.allowed.user != user);
        if self.rules.len() < before { ForgetOutcome::Forgotten } else { ForgetOutcome::NotThere }
    }
}
