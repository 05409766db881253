//! What a turn sends is measured when it starts, and corrected by what the provider reports.

use std::collections::BTreeSet;

use crate::support::{Ask, Move, World, call, policy};
use windlass_machine::{Effect, Fact, State};
use windlass_vocab::{
    ContextBudget, EffectClass, FailureClass, HistoryKeeping, MaxTokens, Message, OutcomeKind, Part, Policy, Record,
    Retrieve, RunModel, Sampling,
};

fn read(arguments: &str) -> Ask {
    call("read", EffectClass::ReadOnly).with(&format!("{{\"path\":\"{arguments}\"}}"))
}

/// A world whose first model has a window of this size.
fn world(window: u64, policy: Policy, script: Vec<Move>) -> World {
    let mut world = World::with_policy(policy, script);
    let known = RunModel { window: Some(window), max_output: Some(2_000), ..RunModel::named("first") };
    world.run_settings.models = vec![known, RunModel::named("second")];
    world
}

/// Performs the next effect; a model's reply reports this many tokens sent.
fn go(world: &mut World, reported: u64) {
    let effect = world.owed().remove(0);
    let mut fact = world.perform(&effect);
    if let Fact::Replied { usage, .. } = &mut fact {
        usage.input = reported;
    }
    world.put(fact);
}

fn budgets(world: &World) -> Vec<ContextBudget> {
    let budget = |record: &Record| match record {
        Record::TurnStarted(started) => started.budget,
        _ => None,
    };
    world.journal.iter().flatten().filter_map(budget).collect()
}

#[test]
fn a_turn_starts_with_the_parts_of_its_window() {
    // proves C3
    let mut world = world(32_000, policy("default"), vec![Move::Text("done")]);
    world.say(&"x".repeat(4_000));
    world.finish();
    let [budget] = budgets(&world)[..] else { panic!("one turn") };
    assert_eq!(budget.window, Some(32_000));
    // A quarter of the bytes, and what is around a message.
    assert_eq!(budget.history, 1_004);
    assert!(budget.prefix > 0 && budget.tools > 0, "{budget:?}");
    assert_eq!((budget.reserve, budget.safety), (2_000, 1_000));
    let left = 32_000 - budget.used() - budget.reserve - budget.safety;
    assert_eq!(budget.remaining, Some(left));
}

#[test]
fn without_a_known_window_the_parts_are_measured_and_nothing_is_limited() {
    // proves C3
    let mut world = World::new("operator", vec![Move::Text("done")]);
    world.say("go");
    world.finish();
    let [budget] = budgets(&world)[..] else { panic!("one turn") };
    assert!(budget.used() > 0);
    assert_eq!((budget.window, budget.remaining, budget.reserve), (None, None, 0));
}

#[test]
fn what_the_provider_reports_is_believed_and_only_what_was_added_is_estimated() {
    // proves C4
    let script = vec![Move::Calls(vec![read("a")]), Move::Calls(vec![read("b")]), Move::Text("done")];
    let mut world = world(32_000, policy("default"), script);
    world.say(&"x".repeat(8_000));
    while budgets(&world).is_empty() {
        go(&mut world, 0);
    }
    let estimated = budgets(&world)[0].used();
    let reported = estimated * 2;
    while budgets(&world).len() < 2 {
        go(&mut world, reported);
    }
    let second = budgets(&world)[1].used();
    // The call and its result are few bytes, and the estimates were half of what is true.
    assert!((reported + 20..reported + 200).contains(&second), "{second} after {reported}");
    let (prefix, tools) = (budgets(&world)[0].prefix, budgets(&world)[0].tools);
    assert_eq!((budgets(&world)[1].prefix, budgets(&world)[1].tools), (prefix * 2, tools * 2));
    // Another process counts the same.
    world.crash();
    go(&mut world, second);
    world.finish();
    assert_eq!(world.fold(), world.state);
}

#[test]
fn a_report_is_compared_with_the_request_as_it_was_sent_in_the_end() {
    // proves C4: an overflow error shortens the conversation in the middle of a turn, and the offer may grow there
    let second = |overflows: u32| {
        let read = Move::Calls(vec![read("a")]);
        let first = Move::Fails(overflows, FailureClass::Overflow, Box::new(read));
        let mut world = world(64_000, Policy { history: HistoryKeeping::Pruned, ..policy("default") }, vec![]);
        world.script = vec![Move::Text("an answer")];
        for _ in 0..6 {
            world.say(&"x".repeat(8_000));
            world.finish();
        }
        let before = budgets(&world).len();
        world.script = vec![first, Move::Text("done")];
        world.reported = 6_000;
        world.say("go");
        while budgets(&world).len() < before + 1 {
            go(&mut world, 0);
        }
        if overflows == 0 {
            let mut context = world.state.transcript.context.as_deref().cloned().expect("a context");
            context.prefix = "x".repeat(8_000);
            world.put(Fact::OfferChanged { context, joined: BTreeSet::from(["late".to_owned()]) });
        }
        let sent = |world: &World| world.state.transcript.history.iter().map(bytes_of).sum::<usize>() as u64 / 4;
        while budgets(&world).len() < before + 2 {
            let prefix = if overflows == 0 { 2_000 } else { 0 };
            let true_count = sent(&world) + prefix;
            go(&mut world, true_count);
        }
        assert_eq!(world.fold(), world.state);
        // The estimates are right, so the second turn has what was sent and the call with its result.
        let (used, sent) = (budgets(&world).last().expect("a turn").used(), sent(&world));
        let all = sent + if overflows == 0 { 2_000 } else { 0 };
        assert!(used.abs_diff(all) < all / 10, "{used} tokens are counted, and {all} are sent");
    };
    second(1);
    second(0);
}

#[test]
fn a_report_that_can_not_be_true_is_bounded() {
    // proves C4: a server that cut the request short reports few tokens
    for (reported, at_least, at_most) in [(1, 50, 60), (1_000_000, 300, 1_000_000_000)] {
        let script = vec![Move::Calls(vec![read("a")]), Move::Text("done")];
        let mut world = world(32_000, policy("default"), script);
        world.say(&"x".repeat(40_000));
        while budgets(&world).is_empty() {
            go(&mut world, 0);
        }
        let estimated = budgets(&world)[0].used();
        while budgets(&world).len() < 2 {
            go(&mut world, reported);
        }
        let share = budgets(&world)[1].used() * 100 / estimated;
        assert!((at_least..=at_most).contains(&share), "{share} %");
    }
}

#[test]
fn the_reply_gets_what_the_budget_leaves_where_the_policy_says_so() {
    // proves C3
    let sampling = Sampling { max_tokens: MaxTokens::Budget, ..Sampling::default() };
    let limit = |state: &State| state.control.run.as_ref().map(windlass_machine::Run::length_limit);
    for (window, max_output, expected) in [
        (Some(8_000), Some(2_000), MaxTokens::Fixed(2_000)),
        (None, Some(2_000), MaxTokens::ModelOwn),
        (Some(4_000), None, MaxTokens::Fixed(1_000)),
    ] {
        let policy = Policy { sampling, ..policy("default") };
        let mut world = World::with_policy(policy, vec![Move::Text("done")]);
        world.run_settings.models = vec![RunModel { window, max_output, ..RunModel::named("first") }];
        // With the prefix and the tools, about 2,900 tokens.
        world.say(&"x".repeat(11_150));
        go(&mut world, 0);
        let found = limit(&world.state).expect("a run");
        match (expected, found) {
            (MaxTokens::Fixed(most), MaxTokens::Fixed(found)) if window == Some(4_000) => {
                assert!(found.abs_diff(most) < 100, "{found}");
            }
            (expected, found) => assert_eq!(found, expected),
        }
    }
}

#[test]
fn what_is_counted_is_what_is_in_the_history() {
    // proves C4
    let long =
        Move::Calls(vec![read("a"), read("b"), call("write", EffectClass::Once).coming_out(OutcomeKind::ToolError)]);
    let script = vec![long.clone(), Move::Empty, long, Move::CutOff("half"), Move::Text("done")];
    let mut world = world(32_000, policy("default"), script);
    world.say("go");
    while world.state.control.run.is_some() {
        if matches!(world.owed()[..], [Effect::CallModel { .. }]) {
            // Everything that is counted is in the history while a model is called.
            let counted = budgets(&world).last().expect("a turn").history;
            let bytes: usize = world.state.transcript.history.iter().map(bytes_of).sum();
            let (least, most) = (bytes as u64 / 4, bytes as u64 / 2 + 60);
            assert!((least..most).contains(&counted), "{counted} tokens for {bytes} bytes");
        }
        go(&mut world, 0);
    }
}

fn bytes_of(message: &Message) -> usize {
    let part = |part: &Part| part.as_text().map_or(0, str::len);
    match message {
        Message::User { text, .. } | Message::Tool { text, .. } => text.len() + 12,
        Message::Assistant { parts, calls, .. } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.as_str().len() + 12);
            parts.iter().map(part).sum::<usize>() + calls.sum::<usize>() + 12
        }
    }
}

/// A policy whose turns are sent passages.
fn retrieving() -> Policy {
    Policy { retrieve: Retrieve::Workspace, ..policy("default") }
}

#[test]
fn passages_are_in_the_budget_and_never_cause_older_turns_to_be_left_out() {
    // proves C3, C10
    let first = |window: u64, policy: Policy| {
        let mut world = world(window, policy, vec![Move::Text("done")]);
        world.say(&"x".repeat(4_000));
        world.finish();
        budgets(&world)[0]
    };
    let (off, on) = (first(32_000, policy("default")), first(32_000, retrieving()));
    assert_eq!((off.retrieved, on.retrieved), (0, 1_000));
    assert_eq!(on.used(), off.used() + 1_000);
    assert_eq!(on.remaining, off.remaining.map(|left| left - 1_000));
    assert_eq!(on.without_passages(), off);
    // Evictions begin at a quarter of a small window. What lies above that is shared.
    for window in (1_000..12_000).step_by(250) {
        let (off, on) = (first(window, policy("default")), first(window, retrieving()));
        assert_eq!((on.prefix, on.tools, on.history), (off.prefix, off.tools, off.history), "{window}");
        let above = off.remaining.unwrap().saturating_sub(window / 4);
        assert_eq!(on.retrieved, (above / 4).min(1_000), "{window}");
    }
    // Without a known window there is a fixed limit.
    let mut unknown = World::with_policy(retrieving(), vec![Move::Text("done")]);
    unknown.say("go");
    unknown.finish();
    assert_eq!(budgets(&unknown)[0].retrieved, 1_000);
}

#[test]
fn what_passages_took_is_not_counted_as_conversation() {
    // proves C4, C10
    let script = || vec![Move::Calls(vec![read("a")]), Move::Text("done")];
    let second = |policy: Policy, passages: u64| {
        let mut world = world(32_000, policy, script());
        world.say(&"x".repeat(800));
        while budgets(&world).len() < 2 {
            let sent = budgets(&world).first().map_or(0, |budget| budget.without_passages().used());
            let effect = world.owed().remove(0);
            let mut fact = world.perform(&effect);
            if let Fact::Replied { usage, retrieved, .. } = &mut fact {
                (usage.input, *retrieved) = (sent + passages, passages);
            }
            world.put(fact);
        }
        assert_eq!(world.fold(), world.state);
        budgets(&world)[1]
    };
    let (without, with) = (second(policy("default"), 0), second(retrieving(), 900));
    assert_eq!(with.without_passages().used(), without.used(), "{with:?} {without:?}");
    assert_eq!(with.retrieved, 1_000);
}
