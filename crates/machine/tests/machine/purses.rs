//! Limits on what may be spent (M7): checked before each model call, asked about where a person can answer.

use std::num::NonZeroU64;

use crate::properties::{Event, a_move, event, happen};
use crate::support::{Move, World, call};
use proptest::prelude::*;
use windlass_machine::{Effect, Fact, ReplayOutcome, replay, shared_room};
use windlass_vocab::{
    Answer, AnsweredBy, Attendance, Dollars, EffectClass, EndReason, Failure, FailureClass, HistoryKeeping, Json,
    ListPrices, NanoMoney, NextAttempt, Policy, Prices, QuestionAsked, QuestionKind, QuestionOption, Record, RunEnded,
    RunModel, Spending, SpendingLimit, SpentElsewhere, TurnMode, Usage,
};

/// Sets a limit of a policy.
type SetLimit = fn(&mut Policy);

/// A dollar for a million tokens, each way: a token is 1,000 billionths.
const A_DOLLAR: ListPrices = ListPrices {
    usual: Prices {
        input: NanoMoney(1_000_000_000),
        output: NanoMoney(1_000_000_000),
        cached: None,
        cache_written: None,
    },
    long: None,
};

fn count(number: u64) -> Option<NonZeroU64> {
    NonZeroU64::new(number)
}

fn dollars(text: &str) -> Option<Dollars> {
    Some(text.parse().expect("an amount"))
}

/// Returns a world that calls a tool in each turn, with these changes to its policy. A turn uses 15 tokens, and a call
/// is estimated at about 1,100.
fn working(change: impl FnOnce(&mut Policy)) -> World {
    let mut world = World::new("default", vec![Move::Calls(vec![call("t0", EffectClass::ReadOnly).repeatable()])]);
    world.run_settings.policy.turn_cap = 20;
    world.run_settings.models = ["first", "second"].map(priced).to_vec();
    change(&mut world.run_settings.policy);
    world
}

fn priced(name: &str) -> RunModel {
    RunModel { prices: Some(A_DOLLAR), ..RunModel::named(name) }
}

fn turns(world: &World) -> usize {
    world.kinds().iter().filter(|kind| *kind == "TurnStarted").count()
}

fn run(world: &mut World) -> RunEnded {
    world.say("go");
    world.finish()
}

fn asked(world: &World) -> Option<QuestionAsked> {
    world.owed().into_iter().find_map(|effect| match effect {
        Effect::Ask(asked) => Some(asked.as_ref().clone()),
        _ => None,
    })
}

/// Performs what is owed until a question waits.
fn until_asked(world: &mut World) -> QuestionAsked {
    for _ in 0..500 {
        if let Some(asked) = asked(world) {
            return asked;
        }
        let effect = world.owed().into_iter().next().expect("something is owed");
        let fact = world.perform(&effect);
        world.put(fact);
    }
    panic!("nobody is asked");
}

fn answer(world: &mut World, asked: &QuestionAsked, option: QuestionOption, by: AnsweredBy) -> Vec<Record> {
    world.put(Fact::Answered { question: asked.question, answer: Answer::plain(option), by })
}

// proves M7, L3
#[test]
fn without_a_person_the_run_ends_before_the_call_that_a_limit_forbids_and_says_which() {
    let limits: [(SetLimit, &str); 9] = [
        (|policy| policy.run_cost_limit = dollars("0.00125"), "run_cost_limit is $0.0013"),
        (|policy| policy.run_token_limit = count(1_250), "run_token_limit is 1250 tokens"),
        (|policy| policy.run_time_limit_ms = count(200), "run_time_limit_ms is 200 ms"),
        (|policy| policy.session_cost_limit = dollars("0.00125"), "session_cost_limit is $0.0013"),
        (|policy| policy.session_token_limit = count(1_250), "session_token_limit is 1250 tokens"),
        (|policy| policy.day_cost_limit = dollars("0.00125"), "day_cost_limit is $0.0013"),
        (|policy| policy.day_token_limit = count(1_250), "day_token_limit is 1250 tokens"),
        (|policy| policy.agent_cost_limit = dollars("0.00125"), "agent_cost_limit is $0.0013"),
        (|policy| policy.agent_token_limit = count(1_250), "agent_token_limit is 1250 tokens"),
    ];
    for (change, says) in limits {
        let mut world = working(change);
        let ended = run(&mut world);
        assert_eq!(ended.reason, EndReason::BudgetSpent, "{says}");
        assert!(ended.answer.contains(says), "{}", ended.answer);
        assert!((2..20).contains(&turns(&world)), "{says}: {} turns", turns(&world));
        let batches = world.journal.len() as u64;
        assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
    }
    let mut free = working(|_| {});
    assert_eq!((run(&mut free).reason, turns(&free)), (EndReason::Unfinished, 21), "no limit, no end but the cap");
}

// proves M7: a limit of nothing allows what costs nothing
#[test]
fn a_limit_of_no_money_allows_free_models_alone_and_is_not_asked_about() {
    for (prices, reason) in [
        (Some(ListPrices::FREE), EndReason::Completed),
        (Some(A_DOLLAR), EndReason::BudgetSpent),
        (None, EndReason::Completed),
    ] {
        let mut world = World::new("default", vec![Move::Text("done")]).attended();
        world.run_settings.models = vec![RunModel { prices, ..RunModel::named("first") }];
        world.run_settings.policy.run_cost_limit = dollars("0");
        assert_eq!(run(&mut world).reason, reason, "{prices:?}");
        assert!(!world.kinds().contains(&"QuestionAsked".to_owned()));
    }
}

// proves M7, T8
#[test]
fn a_person_is_asked_whether_to_raise_the_limit_and_the_run_goes_on_or_ends() {
    let mut world = working(|policy| policy.run_token_limit = count(1_250)).attended();
    world.say("go");
    let question = until_asked(&mut world);
    let raised = QuestionKind::Purse { limit: SpendingLimit::RunTokens, raised_to: 2_500, turn: Some(TurnMode::Tools) };
    assert_eq!(question.kind, raised);
    assert_eq!(question.expires, Some(world.now.plus_ms(300_000)), "T8: it times out to no");
    assert_eq!((question.default, world.owed().len()), (QuestionOption::No, 1), "no model is called meanwhile");
    let before = turns(&world);
    world.crash();
    assert_eq!(asked(&world).as_ref(), Some(&question), "it survives a crash");
    answer(&mut world, &question, QuestionOption::Once, AnsweredBy::Person);
    assert_eq!(turns(&world), before + 1, "the turn begins with the answer");
    for (option, by) in [(QuestionOption::No, AnsweredBy::Person), (QuestionOption::No, AnsweredBy::Expiry)] {
        let mut world = working(|policy| policy.run_token_limit = count(1_250)).attended();
        world.say("go");
        let question = until_asked(&mut world);
        let batch = answer(&mut world, &question, option, by);
        let Some(Record::RunEnded(ended)) = batch.last() else { panic!("{batch:?}") };
        assert_eq!(ended.reason, EndReason::BudgetSpent);
        assert!(ended.answer.contains("run_token_limit is 1250 tokens"), "{}", ended.answer);
    }
}

// proves M7, T8: a person may name the amount; too little is asked about again
#[test]
fn a_person_may_name_what_the_limit_is_raised_to() {
    for (typed, raised_to, asks_again) in
        [("9999", Some(9_999), false), ("1251", Some(1_251), true), ("\"much\"", None, true)]
    {
        let mut world = working(|policy| policy.run_token_limit = count(1_250)).attended();
        world.say("go");
        let question = until_asked(&mut world);
        let given = Answer::with(QuestionOption::Once, Json::parse(typed).expect("JSON"));
        world.put(Fact::Answered { question: question.question, answer: given, by: AnsweredBy::Person });
        assert_eq!(asked(&world).is_some(), asks_again, "{typed}");
        let raised = world.state.control.raised_limits.get(&SpendingLimit::RunTokens).copied();
        assert_eq!(raised, raised_to, "{typed}");
        assert_eq!(world.fold(), world.state);
    }
}

// proves M7: the question says how long the higher limit holds
#[test]
fn the_question_says_for_how_long_a_limit_is_raised() {
    let limits: [(SetLimit, &str); 4] = [
        (|policy| policy.run_token_limit = count(1_250), "Raise it to 2500 tokens for this run and go on?"),
        (|policy| policy.session_token_limit = count(1_250), "Raise it to 2500 tokens for this session and go on?"),
        (|policy| policy.day_token_limit = count(1_250), "Raise it to 2500 tokens for this run only and go on?"),
        (|policy| policy.agent_cost_limit = dollars("0.00125"), "Raise it to $0.0025 for this run only and go on?"),
    ];
    for (change, ending) in limits {
        let mut world = working(change).attended();
        world.say("go");
        let title = until_asked(&mut world).preview.expect("a preview").title;
        assert!(title.ends_with(ending), "{title}");
    }
}

// proves M7, L3: the end says what the run cost, where that is known
#[test]
fn the_end_of_a_run_has_its_cost_where_a_price_is_known() {
    for (prices, cost) in [(Some(A_DOLLAR), Some(NanoMoney(15_000))), (None, None)] {
        let mut world = World::new("default", vec![Move::Text("done")]);
        world.run_settings.models = vec![RunModel { prices, ..RunModel::named("first") }];
        assert_eq!(run(&mut world).cost, cost);
        let mut older = world.envelopes();
        let Some(Record::RunEnded(ended)) = older.last_mut().map(|envelope| &mut envelope.record) else {
            panic!("the end of the run")
        };
        ended.cost = None;
        let batches = world.journal.len() as u64;
        let of_older = replay(world.state.session, &older);
        assert_eq!(of_older, ReplayOutcome::Same { batches }, "an older version did not record it");
    }
}

// proves T8: at once where nobody can answer
#[test]
fn a_question_about_a_limit_is_taken_as_no_when_the_run_is_resumed_without_a_person() {
    let mut world = working(|policy| policy.run_token_limit = count(1_250)).attended();
    world.say("go");
    until_asked(&mut world);
    world.run_settings.attendance = Attendance::Unattended;
    world.crash();
    let (_, ended) = world.state.control.last.clone().expect("it ended");
    assert_eq!(ended.reason, EndReason::BudgetSpent);
}

// proves M7
#[test]
fn what_a_person_allowed_holds_for_the_session_where_the_limit_does_and_else_for_the_run() {
    let mut world = World::new("default", vec![Move::Text("done")]).attended();
    world.run_settings.policy.session_token_limit = count(1_000);
    world.run_settings.policy.run_token_limit = count(100);
    let mut asked_about = Vec::new();
    for _ in 0..2 {
        world.say("go");
        while world.state.control.run.is_some() {
            let effect = world.owed().into_iter().next().expect("something is owed");
            if let Effect::Ask(asked) = &effect
                && let QuestionKind::Purse { limit, .. } = &asked.kind
            {
                asked_about.push(*limit);
            }
            let fact = world.perform(&effect);
            world.put(fact);
        }
    }
    let (run, session) = (SpendingLimit::RunTokens, SpendingLimit::SessionTokens);
    assert_eq!(asked_about, [run, session, run], "the session's limit stays raised");
}

// proves M7, J3: a retry with a higher limit goes on where the run ended
#[test]
fn a_run_that_ended_at_its_limit_is_retried_with_a_higher_one() {
    let mut world = working(|policy| policy.session_token_limit = count(1_250));
    assert_eq!(run(&mut world).reason, EndReason::BudgetSpent);
    let kept = world.state.transcript.history.len();
    world.run_settings.policy.session_token_limit = count(9_999);
    world.script = vec![Move::Text("done")];
    assert!(!world.put(Fact::Retried(Box::new(world.run_settings.clone()))).is_empty());
    assert_eq!(world.finish().reason, EndReason::Completed);
    assert!(world.state.transcript.history.len() > kept, "nothing is lost");
}

// proves M7
#[test]
fn what_others_spent_today_counts_for_the_day() {
    for (others, reason) in [(0, EndReason::Completed), (9_000, EndReason::BudgetSpent)] {
        let mut world = World::new("default", vec![Move::Text("done")]);
        world.run_settings.policy.day_token_limit = count(10_000);
        world.run_settings.spent_today = Some(Spending { cost: NanoMoney(0), tokens: others });
        assert_eq!(run(&mut world).reason, reason, "{others}");
    }
}

// proves M7
#[test]
fn what_other_sessions_of_the_agent_spent_today_counts_for_the_agent() {
    for (others, reason) in [(0, EndReason::Completed), (9_000, EndReason::BudgetSpent)] {
        let mut world = World::new("default", vec![Move::Text("done")]);
        world.run_settings.policy.agent_token_limit = count(10_000);
        world.run_settings.spent_by_agent = Some(Spending { cost: NanoMoney(0), tokens: others });
        assert_eq!(run(&mut world).reason, reason, "{others}");
    }
}

fn tokens(tokens: u64) -> Spending {
    Spending { cost: NanoMoney(0), tokens }
}

// proves M7: the driver asks before each call how much others may have spent
#[test]
fn the_room_for_others_shrinks_with_what_the_run_spends() {
    let mut world = working(|policy| policy.day_token_limit = count(10_000));
    world.reported = 100;
    let mut room = 10_000;
    world.say("go");
    for _ in 0..30 {
        if matches!(world.owed()[..], [Effect::CallModel { .. }]) {
            let shared = shared_room(&world.state);
            let [shared] = &shared[..] else { panic!("{shared:?}") };
            let exceeds = |spent: u64| shared.is_exceeded_by(&SpentElsewhere { day: tokens(spent), agent: tokens(0) });
            let least = (0..=room).find(|spent| exceeds(*spent)).expect("some is too much");
            assert!(least < room, "{least} {room}");
            room = least;
        } else {
            assert_eq!(shared_room(&world.state), []);
        }
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    assert!(room < 9_000, "{room}");
    assert_eq!(shared_room(&working(|_| {}).state), []);
}

// proves M7, T8: a call that was not made, because other runs have spent what the day allows
#[test]
fn what_others_spend_during_the_run_ends_it_or_is_asked_about() {
    for attended in [false, true] {
        let mut world = working(|policy| policy.day_token_limit = count(10_000));
        if attended {
            world = world.attended();
        }
        world.say("go");
        while !matches!(world.owed()[..], [Effect::CallModel { .. }]) {
            let effect = world.owed().remove(0);
            let fact = world.perform(&effect);
            world.put(fact);
        }
        let Some(Effect::CallModel { key, .. }) = world.owed().first().cloned() else { panic!("a call") };
        let others = SpentElsewhere { day: tokens(9_500), agent: tokens(0) };
        let failure = Failure {
            spent_elsewhere: Some(Box::new(others)),
            ..Failure::new(FailureClass::Quota, "The model was not called.")
        };
        world.put(Fact::Failed { attempt: key, failure, usage: None });
        if attended {
            let question = asked(&world).expect("a question");
            let title = question.preview.clone().expect("a preview").title;
            assert!(title.contains("day_token_limit is 10000 tokens: 9500 tokens spent"), "{title}");
            answer(&mut world, &question, QuestionOption::Once, AnsweredBy::Person);
            let owed = world.owed();
            let [Effect::CallModel { key: again, .. }] = &owed[..] else { panic!("{owed:?}") };
            assert_eq!(again.attempt, 2);
            let run = world.state.control.run.as_ref().expect("it is open");
            let windlass_machine::Phase::Modelling(attempt) = &run.phase else { panic!("{:?}", run.phase) };
            assert_eq!(attempt.tries, 1, "a call that was not made is no try");
        } else {
            let ended = world.state.control.last.clone().expect("it ended").1;
            assert_eq!((ended.reason, world.nexts()), (EndReason::BudgetSpent, vec![NextAttempt::End]));
            assert!(ended.answer.contains("day_token_limit is 10000 tokens: 9500 tokens spent"), "{}", ended.answer);
        }
        assert_eq!(world.fold(), world.state);
        let batches = world.journal.len() as u64;
        assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
    }
}

// proves M7, M4: what a failed attempt is charged counts, too
#[test]
fn no_further_attempt_is_made_when_the_failed_ones_have_spent_the_limit() {
    for attended in [false, true] {
        let mut world =
            World::new("default", vec![Move::Fails(3, FailureClass::Transient, Box::new(Move::Text("done")))]);
        world.run_settings.policy.run_token_limit = count(5_000);
        if attended {
            world = world.attended();
        }
        world.say("go");
        for _ in 0..2 {
            let effect = world.owed().remove(0);
            let mut fact = world.perform(&effect);
            if let Fact::Failed { usage, .. } = &mut fact {
                *usage = Some(Usage { input: 4_500, ..Usage::default() });
            }
            world.put(fact);
        }
        if attended {
            let question = asked(&world).expect("a question");
            assert!(matches!(world.nexts()[..], [NextAttempt::Retry { .. }]));
            answer(&mut world, &question, QuestionOption::Once, AnsweredBy::Person);
            assert!(matches!(world.owed()[..], [Effect::CallModel { .. }]), "{:?}", world.owed());
        } else {
            assert_eq!(world.nexts(), [NextAttempt::End]);
            assert_eq!(world.state.control.last.clone().expect("it ended").1.reason, EndReason::BudgetSpent);
        }
    }
}

// proves M7, C5: what is left out is not paid for, so it counts against no limit
#[test]
fn a_limit_is_about_the_request_as_it_is_sent() {
    let mut world = World::new("default", vec![Move::Text("done")]);
    world.run_settings.policy.history = HistoryKeeping::Pruned;
    world.run_settings.models = vec![RunModel { window: Some(64_000), ..RunModel::named("first") }];
    for _ in 0..10 {
        world.say(&"x".repeat(8_000));
        world.finish();
    }
    // Some 20,000 tokens were said; no more than half of the smaller window are sent.
    world.run_settings.models = vec![RunModel { window: Some(8_000), ..RunModel::named("first") }];
    world.run_settings.policy.run_token_limit = count(10_000);
    assert_eq!(run(&mut world).reason, EndReason::Completed);
    assert!(world.kinds().contains(&"Compacted".to_owned()));
}

/// Checks that a model call that is owed was within the limits when it was decided.
fn check_call(world: &World) -> Result<(), TestCaseError> {
    let calls = world.owed().iter().any(|effect| matches!(effect, Effect::CallModel { .. }));
    let control = &world.state.control;
    let Some(run) = control.run.as_ref().filter(|_| calls) else { return Ok(()) };
    let money = |spending: Spending| u64::try_from(spending.cost.0).expect("an amount");
    for (limit, spent) in [
        (SpendingLimit::RunCost, money(run.spending)),
        (SpendingLimit::RunTokens, run.spending.tokens),
        (SpendingLimit::SessionCost, money(control.spending)),
        (SpendingLimit::SessionTokens, control.spending.tokens),
    ] {
        let Some(own) = limit.in_policy(run.policy()) else { continue };
        let allowed = control.raised_limits.get(&limit).copied().unwrap_or(own).max(own);
        prop_assert!(spent < allowed, "{:?}: {} spent of {}, and a model is called", limit, spent, allowed);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    // proves M7, J3: `World::put` decides every batch again, `crash` compares fold and state
    #[test]
    fn no_model_is_called_above_a_limit_whatever_happens(
        attended in any::<bool>(),
        tokens in prop::option::of(1_000..2_000u64),
        nano in prop::option::of(1_000_000..2_000_000u64),
        session in prop::option::of(1_000..3_000u64),
        script in prop::collection::vec(a_move(), 1..8),
        events in prop::collection::vec(event(), 0..60),
    ) {
        let mut world = World::new("default", script);
        world.run_settings.models = ["first", "second"].map(priced).to_vec();
        let policy = &mut world.run_settings.policy;
        policy.run_token_limit = tokens.and_then(count);
        policy.run_cost_limit = nano.map(Dollars::of_nano);
        policy.session_token_limit = session.and_then(count);
        world.run_settings.attendance = if attended { Attendance::Attended } else { Attendance::Unattended };
        world.say("begin");
        for event in events {
            if let (Event::Perform(_), Some(Effect::CallModel { key, .. })) = (event, world.owed().first().cloned()) {
                // Some failures are charged.
                if key.attempt == 2 {
                    let usage = Some(Usage { input: 700, ..Usage::default() });
                    let failure = Failure::new(FailureClass::Transient, "it failed");
                    world.put(Fact::Failed { attempt: key, failure, usage });
                    check_call(&world)?;
                    continue;
                }
            }
            happen(&mut world, event);
            check_call(&world)?;
        }
        prop_assert_eq!(world.fold(), world.state);
    }
}

// proves J7: a run without limits is recorded as before
#[test]
fn a_run_without_limits_records_nothing_about_them() {
    let mut world = World::new("default", vec![Move::Text("done")]);
    world.run_settings.spent_today = Some(Spending { cost: NanoMoney(1), tokens: 1 });
    run(&mut world);
    let started = world.journal.iter().flatten().find(|record| matches!(record, Record::RunStarted(_)));
    let body = started.expect("a run").body().expect("JSON");
    assert!(!body.contains("limit\"") && !body.contains("began") && !body.contains("spent_today"), "{body}");
}
