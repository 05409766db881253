//! Scripts that a model repeats (L11, S2): what is not run again, what leaves the history, and what stays.

use std::borrow::Cow;

use proptest::prelude::{ProptestConfig, Strategy, prop_assert, prop_oneof, proptest};
use windlass_machine::{Fact, legal};
use windlass_vocab::{Dialect, EffectClass, EndReason, FailureClass, Message, Nudged, OutcomeKind, Policy};

use crate::support::{COMMAND, Move, World, call, policy};

fn scripts() -> Policy {
    Policy { dialects: vec![Dialect::Script], ..policy("local-model") }
}

fn script(text: &str) -> Move {
    Move::Calls(vec![call(COMMAND, EffectClass::Once).with(&format!(r#"{{"command":"{text}"}}"#))])
}

fn world(moves: Vec<Move>) -> World {
    let mut world = World::with_policy(scripts(), moves);
    world.say("Sort it.");
    world
}

/// Returns what the model was told when its run started over.
fn starts(world: &World) -> Vec<String> {
    world.nudges().into_iter().filter(Nudged::starts_over).map(|nudged| nudged.text).collect()
}

// proves L11, S2: the result of the repeated script is told, also when its run has started over
#[test]
fn each_start_is_told_what_the_repeated_script_brought() {
    let moves = vec![script("a"), script("b"), script("b"), script("a"), Move::Text("I could not.")];
    let mut world = world(moves);
    assert_eq!(world.finish().reason, EndReason::Completed);
    let told = starts(&world);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains(r#"{"command":"b"}"#) && told[1].contains(r#"{"command":"a"}"#), "{told:?}");
    assert_eq!(world.executed.len(), 2, "each ran once");
    assert_eq!(world.results().len(), 0, "nothing of them is sent");
}

// proves L11: the script that made the last change is not run again, and others are
#[test]
fn the_last_change_is_not_made_twice() {
    let moves = vec![script("writes"), script("a"), script("a"), script("writes")];
    let mut world = world(moves);
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "The changes are made."));
    let outcomes: Vec<OutcomeKind> = world.results().into_iter().map(|(outcome, _)| outcome).collect();
    use OutcomeKind::{InvalidArguments, Ok};
    assert_eq!(outcomes, [Ok, Ok, Ok, InvalidArguments]);
}

// proves L7, L11: what a person said meanwhile is not dropped, nor what it was said about
#[test]
fn nothing_is_dropped_after_a_message_of_a_person() {
    let moves = vec![script("a"), script("b"), script("b"), Move::Text("Done.")];
    let mut world = World::with_policy(Policy { steering: policy("default").steering, ..scripts() }, moves);
    world.say("Sort it.");
    while world.results().is_empty() {
        let effect = world.owed().into_iter().next().expect("an open run owes something");
        let fact = world.perform(&effect);
        world.put(fact);
    }
    world.say("By name, please.");
    world.finish();
    let is_kept = |message: &Message| matches!(message, Message::User { text, .. } if text == "By name, please.");
    assert!(world.state.transcript.history.iter().any(is_kept), "{:?}", world.state.transcript.history);
    assert!(matches!(legal(&world.state.transcript.history), Cow::Borrowed(_)));
}

// proves L11, J3: a retry goes on with what the run before it did
#[test]
fn a_retry_keeps_what_was_done_before_it() {
    let fails = Move::Fails(9, FailureClass::Auth, Box::new(Move::Text("no")));
    let mut world = world(vec![script("writes"), fails]);
    assert_eq!(world.finish().reason, EndReason::Failed);
    world.script = vec![script("a"), script("a"), Move::Text("Done.")];
    world.put(Fact::Retried(Box::new(world.run_settings.clone())));
    world.finish();
    assert_eq!(starts(&world).len(), 1);
    let results: Vec<String> = world.results().into_iter().map(|(_, text)| text).collect();
    assert!(results.iter().any(|text| text.contains("writes")), "{results:?}");
}

fn moves() -> impl Strategy<Value = Move> {
    let scripts = proptest::sample::select(vec!["a", "b", "writes"]).prop_map(script);
    let texts = proptest::sample::select(vec!["Done.", "I will now sort it.", ""]).prop_map(Move::Text);
    prop_oneof![3 => scripts, 1 => texts]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_run_of_scripts_ends_with_a_legal_history(moves in proptest::collection::vec(moves(), 1..14)) {
        // proves L11, J10, S2
        let mut world = world(moves);
        world.finish();
        let told = starts(&world);
        prop_assert!(told.len() <= 3 && told.iter().collect::<std::collections::BTreeSet<_>>().len() == told.len());
        let history = world.state.transcript.history.as_slice();
        prop_assert!(matches!(legal(history), Cow::Borrowed(_)), "{history:?}");
    }
}
