//! What model calls were charged.

use std::sync::Arc;

use windlass_vocab::{
    AttemptFailed, EndReason, Failure, FailureClass, ListPrices, ModelReplied, NanoMoney, NextAttempt, Part, Prices,
    Record, RunId, RunModel, RunStarted, Spending, Timestamp, Usage,
};

use super::checked::{CheckResult, append, batch, open, same, session};
use super::sample;
use crate::{Batch, CountingRun, Fork, ForkTarget, SpendingCounter, Store, charges};

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
        cut: None,
        retrieved: 0,
        intent: None,
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
        role: windlass_vocab::ModelRole::Turn,
    }
    .into()
}

fn at(ms: i64, records: impl IntoIterator<Item = Record>) -> Batch {
    Batch { at: Timestamp(ms), ..batch(records) }
}

fn of_run(run: u32, ms: i64, records: impl IntoIterator<Item = Record>) -> Batch {
    let mut batch = at(ms, records);
    batch.entries.iter_mut().for_each(|entry| entry.run = Some(RunId(run)));
    batch
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

// proves M7: limits that runs share are checked with this count, before each call
pub(super) async fn what_other_runs_spend_is_counted_again_and_again(store: &Arc<dyn Store>) -> CheckResult {
    let counter = SpendingCounter::default();
    let counting = CountingRun { session: session(1), run: RunId(2), owner: "ada".into(), agent: "default".into() };
    let count = || counter.count(store.as_ref(), &counting, Timestamp(1_000));
    let mut own = open(store, 1, "one").await?;
    append(store, &mut own, of_run(1, 500, [started(1), replied(1), sample::run_ended(EndReason::Completed)])).await?;
    append(store, &mut own, of_run(1, 1_500, [started(1), replied(10), sample::run_ended(EndReason::Completed)]))
        .await?;
    append(store, &mut own, of_run(2, 2_000, [started(2), replied(100)])).await?;
    // What was spent before that day, and by the run itself, does not count.
    same!(count().await?.day.tokens, 10);
    let mut other = open(store, 2, "other").await?;
    append(store, &mut other, of_run(1, 3_000, [started(1), replied(1_000)])).await?;
    same!(count().await?.day.tokens, 1_010);
    append(store, &mut other, of_run(1, 4_000, [replied(1_000)])).await?;
    append(store, &mut own, of_run(2, 4_500, [replied(100)])).await?;
    let found = count().await?;
    same!((found.day.tokens, found.day.cost), (2_010, NanoMoney(2_010_000)));
    same!(found.agent, found.day);
    let elsewhere = CountingRun { agent: "another".into(), ..counting.clone() };
    same!(counter.count(store.as_ref(), &elsewhere, Timestamp(1_000)).await?.agent, Spending::default());
    // A new day.
    same!(counter.count(store.as_ref(), &counting, Timestamp(3_500)).await?.day.tokens, 1_000);
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
