//! What follows a failed model call: how long it waits, and when it is repeated without streaming.

use crate::support::{Move, World, policy};
use windlass_machine::{Effect, Fact, PRESETS, State, outstanding};
use windlass_vocab::{
    AttemptFailed, EndReason, Failure, FailureClass, ModelName, NextAttempt, Policy, Record, Retry, Timestamp,
};

/// Returns a policy with these retries.
fn retrying(tries: u32, first_wait_ms: u64, ceiling_ms: u64) -> Policy {
    Policy { retry: Retry { tries, first_wait_ms, ceiling_ms }, ..policy("operator") }
}

/// Returns a world whose model always fails.
fn failing(policy: Policy) -> World {
    let mut world = World::with_policy(policy, vec![Move::Fails(99, FailureClass::Transient, Box::new(Move::Empty))]);
    world.run_settings.chain.truncate(1);
    world.say("go");
    world.finish();
    world
}

#[test]
fn waits_in_the_journal_double_up_to_the_ceiling_and_none_is_above_it() {
    // proves M3
    let waits = failing(retrying(8, 500, 4_100)).waits();
    let allowed = [500..=550, 1_000..=1_100, 2_000..=2_200, 4_000..=4_100, 4_100..=4_100, 4_100..=4_100, 4_100..=4_100];
    assert_eq!(waits.len(), allowed.len(), "{waits:?}");
    assert!(waits.iter().zip(&allowed).all(|(wait, allowed)| allowed.contains(wait)), "{waits:?}");
}

#[test]
fn the_same_failures_of_the_same_session_wait_the_same() {
    // proves M3, J8
    let waits = || failing(retrying(8, 500, 60_000)).waits();
    assert_eq!(waits(), waits());
}

#[test]
fn a_wait_in_the_journal_is_kept_whatever_this_version_would_decide() {
    // proves M3, J7
    let mut world = World::with_policy(retrying(3, 1_000, 1_000), vec![dying_at_once()]);
    world.say("go");
    go_on(&mut world);
    go_on(&mut world);
    let far = world.now.plus_ms(1_100);
    let mut journal: Vec<Record> = world.journal.into_iter().flatten().collect();
    let Some(Record::AttemptFailed(AttemptFailed { next: NextAttempt::Retry { at }, .. })) = journal.last_mut() else {
        panic!("the attempt failed and is tried again: {journal:?}")
    };
    assert!(*at < far);
    *at = far;
    let owed = outstanding(&State::fold(world.state.session, &journal));
    let put_off = |effect: &Effect| matches!(effect, Effect::CallModel { not_before: Some(at), .. } if *at == far);
    assert!(owed.iter().any(put_off), "{owed:?}");
}

/// Returns a model move that fails before its first token.
fn dying_at_once() -> Move {
    Move::Fails(1, FailureClass::Transient, Box::new(Move::Text("x")))
}

/// Performs the first outstanding effect.
fn go_on(world: &mut World) {
    let effect = world.owed().remove(0);
    let fact = world.perform(&effect);
    world.put(fact);
}

/// Returns what follows a stream that dies after its first token, with this much time until the deadline.
fn after_dying(tries: u32, chain: &[&str], room: Room) -> NextAttempt {
    let mut world = World::with_policy(retrying(tries, 500, 32_000), vec![Move::Text("x")]);
    world.run_settings.chain = chain.iter().map(|name| ModelName::from(*name)).collect();
    // Every fact comes 10 ms after the previous one: the message, the pinned context, the failure.
    let dies = world.now.plus_ms(30);
    world.run_settings.deadline = match room {
        Room::Endless => None,
        Room::Left(ms) => Some(dies.plus_ms(ms)),
        Room::Over => Some(Timestamp(dies.0 - 1)),
    };
    world.say("go");
    go_on(&mut world);
    let attempt = world.state.control.run.as_ref().and_then(|run| run.attempt_key()).expect("an attempt");
    let failure = Failure { first_byte: true, ..Failure::new(FailureClass::Transient, "the stream died") };
    world.put(Fact::Failed { attempt, failure, usage: None });
    assert_eq!(world.now, dies);
    world.nexts().pop().expect("the failure is recorded")
}

/// How much time the deadline leaves.
#[derive(Clone, Copy, Debug)]
enum Room {
    Endless,
    Left(u64),
    Over,
}

#[test]
fn a_stream_that_dies_is_answered_whole_only_if_the_deadline_leaves_room() {
    // proves M4
    for room in [Room::Endless, Room::Left(60_000), Room::Left(1_000)] {
        assert_eq!(after_dying(1, &["first"], room), NextAttempt::Whole, "{room:?}");
    }
    for room in [Room::Left(999), Room::Left(0), Room::Over] {
        assert!(matches!(after_dying(2, &["first"], room), NextAttempt::Retry { .. }), "{room:?}");
        let second = NextAttempt::Model { model: "second".into() };
        assert_eq!(after_dying(1, &["first", "second"], room), second, "{room:?}");
        assert_eq!(after_dying(1, &["first"], room), NextAttempt::End, "{room:?}");
    }
}

#[test]
fn a_whole_answer_that_fails_too_is_a_passing_failure() {
    // proves M4
    let dies_twice = Move::Dies(Box::new(Move::Dies(Box::new(Move::Text("x")))));
    let mut world = World::with_policy(retrying(2, 500, 32_000), vec![dies_twice]);
    world.say("go");
    assert_eq!(world.finish().answer, "x");
    assert!(matches!(world.nexts()[..], [NextAttempt::Whole, NextAttempt::Retry { .. }]), "{:?}", world.nexts());
}

const MINUTE_MS: u64 = 60_000;

fn asks_to_wait(ms: u64) -> Failure {
    Failure { retry_after_ms: Some(ms), ..Failure::new(FailureClass::Transient, "Slow down.") }
}

/// Returns a run with this chain, at its first attempt.
fn at_its_first_attempt(policy: Policy, chain: &[&str]) -> World {
    let mut world = World::with_policy(policy, vec![Move::Text("x")]);
    world.run_settings.chain = chain.iter().map(|name| ModelName::from(*name)).collect();
    world.say("go");
    go_on(&mut world);
    world
}

/// Fails the current attempt with `failure`; returns what follows.
fn fail(world: &mut World, failure: &Failure) -> NextAttempt {
    let attempt = world.state.control.run.as_ref().and_then(|run| run.attempt_key()).expect("an attempt");
    world.put(Fact::Failed { attempt, failure: failure.clone(), usage: None });
    world.nexts().pop().expect("the failure is recorded")
}

#[test]
fn a_wait_beyond_the_limit_goes_to_the_next_model_else_ends_the_run_and_names_the_time() {
    // proves M2, M3
    for name in PRESETS {
        let day = asks_to_wait(24 * 60 * MINUTE_MS);
        let mut world = at_its_first_attempt(policy(name), &["first", "second"]);
        assert_eq!(fail(&mut world, &day), NextAttempt::Model { model: "second".into() }, "{name}");
        assert_eq!(fail(&mut world, &day), NextAttempt::End, "{name}");
        let ended = world.finish();
        let back = world.now.plus_ms(24 * 60 * MINUTE_MS).to_string();
        let expected = format!(
            "None of the models answered (first, second). The last failure: Slow down. It asks to come back in 24 h, at \
             {} {} UTC; a run waits 10 min at most (retry_after_limit_ms).",
            &back[..10],
            &back[11..16]
        );
        assert_eq!((ended.reason, ended.failure.map(|failure| failure.message)), (EndReason::Failed, Some(expected)));
    }
}

#[test]
fn a_wait_of_ages_is_told_without_a_date() {
    // proves M3
    let mut world = at_its_first_attempt(policy("default"), &["only"]);
    assert_eq!(fail(&mut world, &asks_to_wait(u64::MAX)), NextAttempt::End);
    let told = world.finish().failure.map(|failure| failure.message).unwrap_or_default();
    let expected =
        "Slow down. It asks to come back in more than a year; a run waits 10 min at most (retry_after_limit_ms).";
    assert_eq!(told, expected);
}

#[test]
fn a_wait_up_to_the_limit_is_kept_and_the_policy_may_set_more() {
    // proves M3
    for (limit, wait, kept) in [
        (Some(10 * MINUTE_MS), 10 * MINUTE_MS, true),
        (Some(10 * MINUTE_MS), 10 * MINUTE_MS + 1, false),
        (Some(60 * MINUTE_MS), 59 * MINUTE_MS, true),
        (Some(0), 1, false),
        // A policy of an old record has no such row, and the run continues under the rules it started with.
        (None, 24 * 60 * MINUTE_MS, true),
    ] {
        let policy = Policy { retry_after_limit_ms: limit, ..policy("default") };
        let mut world = at_its_first_attempt(policy, &["only"]);
        let next = fail(&mut world, &asks_to_wait(wait));
        let expected = if kept { NextAttempt::Retry { at: world.now.plus_ms(wait) } } else { NextAttempt::End };
        assert_eq!(next, expected, "{limit:?} {wait}");
    }
}

#[test]
fn a_wait_that_ends_after_the_deadline_is_not_begun() {
    // proves M3
    for (left, kept) in [(MINUTE_MS, true), (MINUTE_MS - 1, false)] {
        let mut world = World::with_policy(policy("default"), vec![Move::Text("x")]);
        world.run_settings.chain.truncate(1);
        world.run_settings.deadline = Some(world.now.plus_ms(30 + left));
        world.say("go");
        go_on(&mut world);
        let next = fail(&mut world, &asks_to_wait(MINUTE_MS));
        assert_eq!(matches!(next, NextAttempt::Retry { .. }), kept, "{left}");
        if !kept {
            let told = world.finish().failure.map(|failure| failure.message).unwrap_or_default();
            assert!(told.starts_with("Slow down. It asks to come back in 1 min, at "), "{told}");
        }
    }
}

#[test]
fn a_server_that_is_not_running_has_a_few_seconds_to_come_up() {
    // proves M3
    for (name, expected) in
        [("default", &[1_000, 2_000][..]), ("durable-chat", &[3_000, 6_000]), ("local-model", &[1_000])]
    {
        let failure = Failure { not_running: true, ..Failure::new(FailureClass::Transient, "Nothing listens there.") };
        let mut world = at_its_first_attempt(policy(name), &["first", "second"]);
        while matches!(fail(&mut world, &failure), NextAttempt::Retry { .. }) {}
        assert_eq!(world.nexts().pop(), Some(NextAttempt::Model { model: "second".into() }), "{name}");
        let waits = world.waits();
        let fits = |(wait, expected): (&u64, &u64)| (*expected..=expected + expected / 10).contains(wait);
        assert!(waits.len() == expected.len() && waits.iter().zip(expected).all(fits), "{name}: {waits:?}");
    }
}
