//! Whether requests were read from the provider's cache, why not, and what that cost.

use windlass_machine::{Effect, Fact};
use windlass_vocab::{
    CacheMissCause as Cause, CacheReport, CacheResult, ListPrices, NanoMoney, Prices, PromptCache, Record, RunModel,
    TurnMode, Usage,
};

use crate::support::{Move, World, call};

/// A dollar for a million tokens sent, a tenth of that from the cache.
const PRICES: ListPrices = ListPrices {
    usual: Prices {
        input: NanoMoney(1_000_000_000),
        output: NanoMoney(0),
        cached: Some(NanoMoney(100_000_000)),
        cache_written: None,
    },
    long: None,
};

const FIVE_MINUTES: u64 = 300_000;
const CACHE: PromptCache = PromptCache { keeps_ms: Some(FIVE_MINUTES), least_tokens: 1_024, counts_writes: false };

/// What happens between two requests.
type ChangeWorld = fn(&mut World);

fn model(name: &str, cache: Option<PromptCache>) -> RunModel {
    RunModel { prices: Some(PRICES), cache, ..RunModel::named(name) }
}

fn world(cache: Option<PromptCache>) -> World {
    let mut world = World::new("default", vec![Move::Text("done")]);
    world.run_settings.models = vec![model("first", cache), model("second", cache)];
    world
}

fn usage(input: u64, cached: u64) -> Usage {
    Usage { input, cached, output: 5, calls: 1, ..Usage::default() }
}

/// Runs a message to its end; returns the report of its last reply, whose request used this.
fn ask(world: &mut World, used: Usage) -> Option<CacheReport> {
    world.say("go on");
    while world.state.control.run.is_some() {
        let effect = world.owed().remove(0);
        let mut fact = world.perform(&effect);
        if let (Fact::Replied { usage, .. }, Effect::CallModel { .. }) = (&mut fact, &effect) {
            *usage = used;
        }
        world.put(fact);
    }
    world.journal.iter().flatten().rev().find_map(|record| match record {
        Record::ModelReplied(replied) if replied.role.is_turn() => Some(replied.cache.as_deref().copied()),
        _ => None,
    })?
}

/// Asserts the result, the expected and the missed tokens, and the cause.
fn check(report: Option<CacheReport>, result: CacheResult, expected: u64, missed: u64, why: Option<Cause>) {
    let report = report.expect("a report");
    assert_eq!((report.result, report.expected, report.missed, report.why), (result, expected, missed, why));
    let cost = Some(NanoMoney(i64::try_from(missed).expect("a count") * 900)).filter(|_| missed > 0);
    assert_eq!(report.cost, cost, "what a miss costs");
}

// proves M6
#[test]
fn what_the_last_request_sent_is_expected_to_be_read_from_the_cache() {
    let mut world = world(Some(CACHE));
    check(ask(&mut world, usage(9_000, 0)), CacheResult::Missed, 0, 0, Some(Cause::FirstRequest));
    check(ask(&mut world, usage(9_500, 8_960)), CacheResult::Hit, 9_000, 0, None);
    // Reminders and the plan are sent anew each time.
    check(ask(&mut world, usage(9_900, 9_000)), CacheResult::Hit, 9_500, 0, None);
    check(ask(&mut world, usage(12_000, 4_000)), CacheResult::Partial, 9_900, 5_900, Some(Cause::Unknown));
    check(ask(&mut world, usage(12_500, 0)), CacheResult::Missed, 12_000, 12_000, Some(Cause::Unknown));
    // What is no longer sent is not missed.
    check(ask(&mut world, usage(3_000, 0)), CacheResult::Missed, 3_000, 3_000, Some(Cause::Unknown));
}

// proves M6
#[test]
fn a_miss_has_its_cause() {
    let late: ChangeWorld = |world| world.now = world.now.plus_ms(FIVE_MINUTES + 1);
    let in_time: ChangeWorld = |world| world.now = world.now.plus_ms(FIVE_MINUTES - 1_000);
    let other_tools: ChangeWorld = |world| world.offer += 1;
    let compaction: ChangeWorld = |world| world.run_settings.compact = true;
    let no_tools: ChangeWorld = |world| world.offer = 0;
    let cases: [(ChangeWorld, Cause); 5] = [
        (late, Cause::Expired),
        (in_time, Cause::Unknown),
        (other_tools, Cause::OfferChanged),
        (no_tools, Cause::OfferChanged),
        (compaction, Cause::Compaction),
    ];
    for (change, why) in cases {
        let mut world = world(Some(CACHE));
        ask(&mut world, usage(9_000, 0));
        ask(&mut world, usage(9_000, 9_000));
        change(&mut world);
        check(ask(&mut world, usage(9_000, 1_000)), CacheResult::Partial, 9_000, 8_000, Some(why));
        world.run_settings.compact = false;
        check(ask(&mut world, usage(9_000, 9_000)), CacheResult::Hit, 9_000, 0, None);
    }
}

// proves M6, M2
#[test]
fn a_switch_of_the_model_costs_what_the_other_model_had_in_its_cache() {
    let mut world = world(Some(CACHE));
    ask(&mut world, usage(9_000, 0));
    world.run_settings.chain.reverse();
    check(ask(&mut world, usage(9_000, 0)), CacheResult::Missed, 9_000, 9_000, Some(Cause::ModelSwitched));
    check(ask(&mut world, usage(9_100, 9_000)), CacheResult::Hit, 9_000, 0, None);
    // The first model still has what it was sent.
    world.run_settings.chain.reverse();
    check(ask(&mut world, usage(9_200, 8_960)), CacheResult::Hit, 9_000, 0, None);
}

// proves M6
#[test]
fn a_request_that_was_not_kept_is_not_missed() {
    let mut short = world(Some(CACHE));
    ask(&mut short, usage(1_000, 0));
    check(ask(&mut short, usage(1_500, 0)), CacheResult::Missed, 0, 0, Some(Cause::TooShort));
    // Where writes are counted, nothing else can be read.
    let mut counted = world(Some(PromptCache { counts_writes: true, least_tokens: 0, ..CACHE }));
    ask(&mut counted, usage(3_000, 0));
    check(ask(&mut counted, usage(4_000, 0)), CacheResult::Missed, 0, 0, Some(Cause::TooShort));
    ask(&mut counted, Usage { cache_written: 4_500, ..usage(5_000, 0) });
    check(ask(&mut counted, usage(5_500, 4_500)), CacheResult::Hit, 4_500, 0, None);
}

// proves M6
#[test]
fn a_server_that_never_reports_a_cache_has_no_reports() {
    let mut silent = world(None);
    assert_eq!(ask(&mut silent, usage(9_000, 0)), None);
    assert_eq!(ask(&mut silent, usage(9_000, 0)), None);
    // One that does is watched from then on.
    check(ask(&mut silent, usage(9_500, 9_000)), CacheResult::Hit, 0, 0, None);
    check(ask(&mut silent, usage(9_600, 0)), CacheResult::Missed, 9_500, 9_500, Some(Cause::Unknown));
    let mut estimated = world(Some(CACHE));
    let report = ask(&mut estimated, Usage { estimated: true, ..usage(9_000, 0) }).expect("a report");
    assert_eq!(report.result, CacheResult::NotReported);
    check(ask(&mut estimated, usage(9_000, 0)), CacheResult::Missed, 0, 0, Some(Cause::FirstRequest));
}

// proves M6: a turn in which no tool may be called is another request to some providers
#[test]
fn a_wrap_up_that_misses_says_that_the_tools_were_forbidden() {
    let mut world = world(Some(CACHE));
    world.run_settings.policy.turn_cap = 1;
    world.script = vec![Move::Calls(vec![call("t0", windlass_vocab::EffectClass::ReadOnly)])];
    world.say("go");
    let mut modes = Vec::new();
    while world.state.control.run.is_some() {
        let effect = world.owed().remove(0);
        let mut fact = world.perform(&effect);
        if let (Fact::Replied { usage: used, .. }, Effect::CallModel { mode, .. }) = (&mut fact, &effect) {
            modes.push(*mode);
            *used = usage(9_000, 0);
        }
        world.put(fact);
    }
    assert_eq!(modes, [TurnMode::Tools, TurnMode::WrapUp]);
    let last = world.journal.iter().flatten().rev().find_map(|record| match record {
        Record::ModelReplied(replied) => replied.cache.as_deref().copied(),
        _ => None,
    });
    check(last, CacheResult::Missed, 9_000, 9_000, Some(Cause::ToolChoiceChanged));
}
