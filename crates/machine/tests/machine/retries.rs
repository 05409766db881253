//! What follows a model call that failed, and how long it waits.

use crate::support::{Move, World, policy};
use windlass_machine::{Effect, State, outstanding};
use windlass_vocab::{AttemptFailed, FailureClass, NextAttempt, Policy, Record, Retry};

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
