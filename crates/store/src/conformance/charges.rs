//! What model calls were charged.

use std::sync::Arc;

use windlass_vocab::{
    AttemptFailed, EndReason, Failure, FailureClass, ListPrices, ModelReplied, NanoMoney, NextAttempt, Part, Prices,
    Record, RunModel, RunStarted, Spending, Timestamp, Usage,
};

use super::checked::{CheckResult, append, batch, open, same, session};
use super::sample;
use crate::{Batch, Fork, ForkTarget, Store, charges};

/// One dollar for a million tokens sent.
const PRICES: ListPrices = ListPrices {
    usual: Prices { input: NanoMoney(1_000_000_000), output: NanoMoney(0), cached: None, cache_written: None },
    long: None,
};

fn used(input: u64) -> Usage {
    Usage { input, calls: 1, ..Usage::default() }
}

fn started(run: u32) -> Record {
    match sample::run_started(run) {
        Record::RunStarted(started) => {
            let models = vec![RunModel { prices: Some(PRICES), ..RunModel::named("small") }];
            RunStarted { models, ..started }.into()
        }
        other => other,
    }
}

fn replied(input: u64) -> Record {
    ModelReplied {
        attempt: 1,
        model: "small".into(),
        parts: vec![Part::Text { text: "yes".into() }],
        stop: windlass_vocab::StopReason::Stop,
        usage: used(input),
        cost: Some(PRICES.cost_of_call(&used(input))),
        partial: false,
        misfit: None,
        malformed: None,
        role: windlass_vocab::ModelRole::Turn,
        cache: None,
    }
    .into()
}

fn failed(input: u64) -> Record {
    AttemptFailed {
        attempt: 1,
        model: "small".into(),
        failure: Failure::new(FailureClass::Transient, "no"),
        next: NextAttempt::Whole,
        usage: Some(used(input)),
    }
    .into()
}

fn at(ms: i64, records: impl IntoIterator<Item = Record>) -> Batch {
    Batch { at: Timestamp(ms), ..batch(records) }
}

// proves M7
pub(super) async fn charges_are_a_fold_of_all_journals_from_a_time_on(store: &Arc<dyn Store>) -> CheckResult {
    let mut one = open(store, 1, "one").await?;
    append(store, &mut one, at(1_000, [started(1), replied(1), sample::run_ended(EndReason::Completed)])).await?;
    append(store, &mut one, at(2_000, [started(2), failed(10)])).await?;
    append(store, &mut one, at(5_000, [failed(100), replied(1_000)])).await?;
    let mut other = open(store, 2, "other").await?;
    append(store, &mut other, at(6_000, [started(1), replied(7), sample::run_ended(EndReason::Completed)])).await?;
    for (since, tokens) in [(0, 1_118), (2_000, 1_117), (5_000, 1_107), (6_000, 7), (7_000, 0)] {
        let found = charges(store.as_ref(), "ada", Timestamp(since)).await?;
        same!(found.spending(), Spending { tokens, cost: NanoMoney(i64::try_from(tokens)? * 1_000) });
        same!(found.unreadable, []);
    }
    let all = charges(store.as_ref(), "ada", Timestamp(0)).await?.charges;
    let of_one: Vec<u64> =
        all.iter().filter(|charge| charge.session == session(1)).map(|charge| charge.usage.input).collect();
    same!(of_one, [1, 10, 100, 1_000]);
    same!(all.iter().all(|charge| charge.agent == "default" && charge.cost.is_some()), true);
    same!(charges(store.as_ref(), "eve", Timestamp(0)).await?.charges, []);
    Ok(())
}

// proves M7, J8
pub(super) async fn what_a_fork_copied_is_charged_once(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "one").await?;
    append(store, &mut writer, at(1_000, [started(1), replied(5), sample::run_ended(EndReason::Completed)])).await?;
    let target =
        ForkTarget { session: session(2), key: "two".into(), version: String::new(), at: Timestamp(2_000), nonce: 2 };
    Fork::begin(store.as_ref(), session(1), None, target).await?.finish(store.as_ref()).await?;
    same!(charges(store.as_ref(), "ada", Timestamp(0)).await?.spending().tokens, 5);
    Ok(())
}
