//! What model calls cost.

use crate::support::{Move, World};
use windlass_vocab::{ListPrices, NanoMoney, Prices, Record, RunModel};

/// Returns the recorded cost of the only reply of a run whose first model has these prices.
fn recorded_cost(prices: Option<ListPrices>) -> Option<NanoMoney> {
    let mut world = World::new("default", vec![Move::Text("done")]);
    world.run_settings.models = vec![RunModel { prices, ..RunModel::named("first") }, RunModel::named("second")];
    world.say("go");
    world.finish();
    let replied = world.journal.iter().flatten().find_map(|record| match record {
        Record::ModelReplied(replied) => Some(replied.clone()),
        _ => None,
    });
    let replied = replied.expect("a reply");
    assert!(replied.usage.output > 0, "the script reports usage");
    assert_eq!(replied.cost, prices.map(|prices| prices.cost_of_call(&replied.usage)));
    replied.cost
}

// proves M7
#[test]
fn a_reply_records_its_cost_where_the_prices_of_its_model_are_known() {
    let usual = Prices { output: NanoMoney(1_000_000_000), ..Prices::default() };
    let prices = ListPrices { usual, long: None };
    assert!(recorded_cost(Some(prices)).is_some_and(|cost| cost > NanoMoney(0)));
    assert_eq!(recorded_cost(None), None);
}
