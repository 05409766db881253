//! Rules that users allowed for good.

use std::sync::Arc;

use windlass_vocab::Timestamp;

use super::checked::{CheckResult, holds, same};
use crate::user_rules::MOST_USER_RULES;
use crate::{AllowedRule, ForgetOutcome, KeepOutcome, Store, UserRuleId};

fn allowed(user: &str, folder: &str, rule: &str) -> AllowedRule {
    AllowedRule { user: user.into(), folder: folder.into(), rule: rule.into(), at: Timestamp(1_000) }
}

// proves T8, W3: a rule is kept once, belongs to its user and folder, and can be taken back
pub(super) async fn a_rule_is_kept_for_its_user_until_it_is_forgotten(store: &Arc<dyn Store>) -> CheckResult {
    let first = allowed("ada", "/project/a", "run_command(cargo *)");
    let KeepOutcome::Kept(id) = store.keep_rule(first.clone()).await? else { return Err("it was not kept".into()) };
    let later = AllowedRule { at: Timestamp(2_000), ..first.clone() };
    same!(store.keep_rule(later).await?, KeepOutcome::Kept(id));
    let elsewhere = allowed("ada", "/project/b", "run_command(cargo *)");
    holds!(store.keep_rule(elsewhere.clone()).await? != KeepOutcome::Kept(id));
    store.keep_rule(allowed("bob", "/project/a", "write(it's \u{1f6a2})")).await?;
    let of_ada = store.rules_of("ada").await?;
    same!(of_ada.iter().map(|kept| kept.allowed.clone()).collect::<Vec<_>>(), [first, elsewhere]);
    same!(store.rules_of("eve").await?, []);
    same!(store.forget_rule("bob", id).await?, ForgetOutcome::NotThere);
    same!(store.forget_rule("ada", UserRuleId(u64::MAX)).await?, ForgetOutcome::NotThere);
    same!(store.forget_rule("ada", id).await?, ForgetOutcome::Forgotten);
    same!(store.forget_rule("ada", id).await?, ForgetOutcome::NotThere);
    same!(store.rules_of("ada").await?.len(), 1);
    same!(store.rules_of("bob").await?.len(), 1);
    Ok(())
}

// proves W3: nobody fills the store with rules, and no number comes to mean another rule
pub(super) async fn a_user_has_a_bounded_number_of_rules(store: &Arc<dyn Store>) -> CheckResult {
    let mut last = UserRuleId(0);
    for number in 0..MOST_USER_RULES {
        let kept = store.keep_rule(allowed("ada", "/project", &format!("run_command(echo {number})"))).await?;
        let KeepOutcome::Kept(id) = kept else { return Err(format!("only {number} were kept").into()) };
        holds!(id > last);
        last = id;
    }
    same!(store.keep_rule(allowed("ada", "/project", "run_command(date)")).await?, KeepOutcome::TooMany);
    holds!(store.keep_rule(allowed("bob", "/project", "run_command(date)")).await? != KeepOutcome::TooMany);
    same!(store.forget_rule("ada", last).await?, ForgetOutcome::Forgotten);
    let KeepOutcome::Kept(id) = store.keep_rule(allowed("ada", "/project", "run_command(date)")).await? else {
        return Err("there was room".into());
    };
    holds!(id > last);
    Ok(())
}
