//! Checks the models after the first and those of the roles, one line each, and whether limits in dollars can be kept.

use std::time::Duration;

use windlass::door::ResolvedModel;
use windlass_provider::known_models::list_prices;
use windlass_provider::{Endpoint, HttpClient, HttpConfig, ListedModel, ListingError, list_models};
use windlass_setup::agent::has_key;
use windlass_setup::models::{is_named, list_some};
use windlass_vocab::{LimitUnit, Policy, SpendingLimit};

use super::check::Check;
use crate::output::advice::with_failure;
use crate::output::setting_words::settings_error;

/// How long each server may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// Checks the models after the first, all at the same time.
pub(crate) async fn check(later: Vec<ResolvedModel>) -> Vec<Check> {
    let asked: Vec<_> = later.into_iter().map(|model| tokio::spawn(check_model(model))).collect();
    let mut checks = Vec::with_capacity(asked.len());
    for one in asked {
        checks.extend(one.await);
    }
    checks
}

async fn check_model(model: ResolvedModel) -> Check {
    if let Err(error) = has_key(&model) {
        return Check::fail("chain", format!("{}: {}", model.name, settings_error(&error)));
    }
    judge(&model, listed(&model).await)
}

async fn listed(model: &ResolvedModel) -> Result<Vec<ListedModel>, ListingError> {
    let http = HttpClient::new(HttpConfig::default()).map_err(|error| ListingError::Config(error.into()))?;
    list_models(&model.config(), &http, LIMIT).await
}

fn judge(model: &ResolvedModel, listed: Result<Vec<ListedModel>, ListingError>) -> Check {
    let (name, address) = (&model.name, &model.base_url);
    match listed {
        Ok(listed) => {
            let ids: Vec<&str> = listed.iter().map(|listed| listed.id.as_str()).collect();
            if ids.iter().any(|id| is_named(id.trim_start_matches("models/"), &model.id)) {
                return Check::ok("chain", format!("{name}: {address} answers and has it"));
            }
            let text = format!("{name}: {address} answers, and does not list {}", model.id);
            let advice = format!("it has {}", if ids.is_empty() { "none".to_owned() } else { list_some(&ids) });
            Check::warn("chain", text, advice)
        }
        Err(ListingError::Failed(failure)) if failure.status == Some(404) => {
            Check::ok("chain", format!("{name}: {address} answers, and lists no models"))
        }
        Err(ListingError::Failed(failure)) => Check::fail("chain", format!("{name}: {}", with_failure(&failure))),
        Err(error @ ListingError::Config(_)) => Check::fail("chain", format!("{name}: {error}")),
    }
}

/// Checks that the price of every model is known, if the policy limits money. A server on this machine takes none.
pub(crate) fn check_prices(policy: &Policy, models: &[ResolvedModel]) -> Option<Check> {
    let is_set = |limit: &SpendingLimit| limit.unit() == LimitUnit::Cost && limit.in_policy(policy).is_some();
    let limit = SpendingLimit::ALL.into_iter().find(is_set)?;
    let unpriced = |model: &&ResolvedModel| {
        let here = Endpoint { base_url: model.base_url.clone(), model: String::new(), key: None };
        let prices = model.figures.prices.or_else(|| list_prices(model.kind(), &model.id));
        prices.is_none() && !here.is_on_this_machine()
    };
    let names: Vec<&str> = models.iter().filter(unpriced).map(|model| model.name.as_str()).collect();
    if names.is_empty() {
        return Some(Check::ok("price", format!("known for every model, so that {} is kept", limit.row())));
    }
    let text = format!("{} can't be kept: the price of {} is not known", limit.row(), names.join(", "));
    let advice = "give price_input and price_output under [models.NAME] in windlass.toml, or limit tokens";
    Some(Check::fail("price", text).advise(advice))
}

#[cfg(test)]
mod tests {
    use windlass::door::ModelFigures;
    use windlass_provider::server_kind::ServerKind;
    use windlass_provider::{DeclaredModel, Secret};
    use windlass_vocab::{Failure, FailureClass};

    use super::*;

    fn model(server: ServerKind, base_url: &str, key: Option<&str>) -> ResolvedModel {
        ResolvedModel {
            name: "spare".into(),
            server,
            base_url: base_url.to_owned(),
            id: "m".to_owned(),
            key: key.map(Secret::new),
            figures: ModelFigures::default(),
            declared: DeclaredModel::default(),
        }
    }

    fn line(check: &Check) -> String {
        format!("{} {}: {}", check.state.word(), check.name, check.said)
    }

    // proves M2: each model of the chain is checked
    #[test]
    fn each_later_model_is_told_in_one_line() {
        let spare = model(ServerKind::Other, "http://h/v1", None);
        let list = |ids: &[&str]| Ok(ids.iter().map(|id| ListedModel { id: (*id).into(), window: None }).collect());
        let failed = Failure::new(FailureClass::Transient, "Nothing listens there.");
        for (listed, expected) in [
            (list(&["m:latest"]), "ok chain: spare: http://h/v1 answers and has it"),
            (list(&["a"]), "warn chain: spare: http://h/v1 answers, and does not list m"),
            (Err(ListingError::Failed(failed)), "fail chain: spare: Nothing listens there."),
        ] {
            assert_eq!(line(&judge(&spare, listed)), expected);
        }
    }

    // proves M7
    #[test]
    fn a_limit_of_money_names_the_models_without_a_price() {
        let mut policy = windlass_machine::preset("default").expect("a preset");
        let models = [model(ServerKind::Other, "https://far.example/v1", None)];
        assert_eq!(check_prices(&policy, &models), None);
        policy.day_cost_limit = Some("5".parse().expect("an amount"));
        let check = check_prices(&policy, &models).expect("a check");
        assert_eq!(line(&check), "fail price: day_cost_limit can't be kept: the price of spare is not known");
        let here = [model(ServerKind::Other, "http://127.0.0.1:8080/v1", None)];
        assert_eq!(check_prices(&policy, &here).expect("a check").state.word(), "ok");
    }
}
