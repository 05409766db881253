//! What follows a model call that failed: how long it waits, and when a whole answer is asked for instead.

use crate::support::{Move, World, policy};
use windlass_machine::{Effect, Fact, State, outstanding};
use windlass_vocab::{At, AttemptFailed, Failure, FailureClass, ModelName, NextAttempt, Policy, Record, Retry};

/// A policy that tries so often and waits so long.
fn retrying(tries: u32, first_wait_ms: u64, ceiling_ms: u64) -> Policy {
    Policy { retry: Retry { tries, first_wait_ms, ceiling_ms }, ..policy("operator") }
}

/// A world whose model fails as often as it is tried.
fn failing(policy: Policy) -> World {
    let mut world = World::with_policy(policy, vec![Move::Fails(99, FailureClass::Transient, Box::new(Move::Empty))]);
    world.terms.chain.truncate(1);
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

/// A model that fails before its first token.
fn dying_at_once() -> Move {
    Move::Fails(1, FailureClass::Transient, Box::new(Move::Text("x")))
}

/// Performs what is owed first.
fn go_on(world: &mut World) {
    let effect = world.owed().remove(0);
    let fact = world.perform(&effect);
    world.put(fact);
}

/// What follows a stream that dies after its first token, so long before the deadline.
fn after_dying(tries: u32, chain: &[&str], room: Room) -> NextAttempt {
    let mut world = World::with_policy(retrying(tries, 500, 32_000), vec![Move::Text("x")]);
    world.terms.chain = chain.iter().map(|name| ModelName::from(*name)).collect();
    // Every fact comes 10 ms after the one before it: the message, the pinned context, the failure.
    let dies = world.now.plus_ms(30);
    world.terms.deadline = match room {
        Room::Endless => None,
        Room::Left(ms) => Some(dies.plus_ms(ms)),
        Room::Over => Some(At(dies.0 - 1)),
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
