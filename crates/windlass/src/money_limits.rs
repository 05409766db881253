//! A limit of money holds only where the prices of all models are known (M7).

use windlass_vocab::{LimitUnit, Policy, RunModel, SpendingLimit};

use crate::build_error::BuildError;
use crate::listed_models::is_on_this_machine;

/// Refuses a limit of money with a model of unknown price. A server on this machine costs nothing for each call, unless the
/// configuration says otherwise; what a program's own model costs is the program's business.
pub(crate) fn check<'a>(policy: &Policy, models: impl IntoIterator<Item = &'a RunModel>) -> Result<(), BuildError> {
    let limit = SpendingLimit::ALL
        .into_iter()
        .find(|limit| limit.unit() == LimitUnit::Cost && limit.in_policy(policy).is_some());
    let unpriced = models.into_iter().find(|model| model.prices.is_none() && is_elsewhere(model));
    match limit.zip(unpriced) {
        Some((limit, model)) => Err(BuildError::UnknownPrice {
            limit: limit.row(),
            model: model.name.as_str().to_owned(),
            instead: in_tokens(limit).row(),
        }),
        None => Ok(()),
    }
}

fn is_elsewhere(model: &RunModel) -> bool {
    model.server.as_deref().is_some_and(|server| !is_on_this_machine(server))
}

/// Returns the limit that counts tokens where this one counts money.
const fn in_tokens(limit: SpendingLimit) -> SpendingLimit {
    match limit {
        SpendingLimit::RunCost | SpendingLimit::RunTokens | SpendingLimit::RunTime => SpendingLimit::RunTokens,
        SpendingLimit::SessionCost | SpendingLimit::SessionTokens => SpendingLimit::SessionTokens,
        SpendingLimit::DayCost | SpendingLimit::DayTokens => SpendingLimit::DayTokens,
        SpendingLimit::AgentCost | SpendingLimit::AgentTokens => SpendingLimit::AgentTokens,
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{ListPrices, RunModel};

    use super::check;

    // proves M7: a limit that would do nothing is refused
    #[test]
    fn a_limit_of_money_needs_the_price_of_every_model() {
        let server = Some("https://example.test/v1".to_owned());
        let free = RunModel { prices: Some(ListPrices::FREE), server: server.clone(), ..RunModel::named("free") };
        let unknown = RunModel { server, ..RunModel::named("unknown") };
        let mut policy = windlass_machine::preset("default").expect("a preset");
        assert!(check(&policy, [&unknown]).is_ok());
        policy.day_cost_limit = Some("5".parse().expect("an amount"));
        let own = RunModel { server: Some("http://127.0.0.1:8080/v1".to_owned()), ..RunModel::named("here") };
        assert!(check(&policy, &[free.clone(), own, RunModel::named("own")]).is_ok());
        let refused = check(&policy, &[free, unknown]).expect_err("no price").to_string();
        for words in ["`day_cost_limit` can't be kept", "`unknown`", "`day_token_limit`"] {
            assert!(refused.contains(words), "{refused}");
        }
    }
}
