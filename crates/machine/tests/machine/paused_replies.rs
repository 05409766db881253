//! Replies that the provider pauses: the conversation is sent again, and the reply goes on.

use crate::support::{Move, World, call, policy};
use windlass_machine::{ReplayOutcome, State, replay};
use windlass_vocab::{EffectClass, EndReason, Envelope, Json, Message, Part, Record, TurnCapAction};

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn opaque(n: u32) -> Part {
    Part::Opaque { item: Json::parse(&format!(r#"{{"type": "server_tool_use", "n": {n}.0}}"#)).expect("JSON") }
}

fn thought() -> Part {
    Part::Thinking { text: "hm".into(), signature: Some("c2ln".into()) }
}

/// Returns the parts of each reply in the history, with the model that made it.
fn replies(state: &State) -> Vec<(Vec<Part>, String)> {
    let reply = |message: &Message| match message {
        Message::Assistant { parts, model, .. } => Some((parts.clone(), model.to_string())),
        Message::User { .. } | Message::Tool { .. } => None,
    };
    state.transcript.history.iter().filter_map(reply).collect()
}

// proves M1, M5
#[test]
fn a_paused_reply_is_followed_by_another_turn_and_keeps_its_parts_in_order() {
    let first = vec![thought(), text("I search."), opaque(1)];
    let second = vec![opaque(2)];
    let script = vec![Move::Paused(first.clone()), Move::Paused(second.clone()), Move::Text(" It is 7.")];
    let mut world = World::new("default", script);
    world.say("look it up");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 3));
    assert_eq!(ended.answer, "I search. It is 7.", "what comes after a pause belongs to the same answer");
    assert_eq!(world.nudges(), []);
    let model = replies(&world.state)[0].1.clone();
    assert!(!model.is_empty());
    let expected = [first, second, vec![text(" It is 7.")]].map(|parts| (parts, model.clone()));
    assert_eq!(replies(&world.state), expected);
}

// proves J3, J7: a journal read back gives the same history, byte for byte
#[test]
fn opaque_parts_survive_the_journal() {
    let script = vec![Move::Paused(vec![thought(), opaque(1)]), Move::Text("done")];
    let mut world = World::new("default", script);
    world.say("look it up");
    world.finish();
    let read_back = |envelope: &Envelope| {
        let mut line = Vec::new();
        envelope.encode_into(&mut line).expect("JSON");
        Envelope::decode(std::str::from_utf8(&line).expect("text")).expect("an envelope")
    };
    let journal: Vec<Envelope> = world.envelopes().iter().map(read_back).collect();
    let records: Vec<&Record> = journal.iter().map(|envelope| &envelope.record).collect();
    assert_eq!(State::fold(world.state.session, records), world.state);
    assert!(matches!(replay(world.state.session, &journal), ReplayOutcome::Same { .. }));
}

// proves L3: an answer that its provider did not finish is not complete
#[test]
fn the_sixth_pause_in_a_row_ends_the_run_unfinished() {
    let mut world = World::new("default", vec![Move::Paused(vec![text("a")])]);
    world.say("look it up");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns, ended.answer.as_str()), (EndReason::Unfinished, 6, "aaaaaa"));
}

#[test]
fn pauses_are_counted_anew_after_any_other_reply() {
    let pause = || Move::Paused(vec![text("a")]);
    let mut script: Vec<Move> = (0..4).map(|_| pause()).collect();
    script.push(Move::Calls(vec![call("read", EffectClass::ReadOnly)]));
    script.extend((0..5).map(|_| pause()));
    script.push(Move::Text("z"));
    let mut world = World::new("default", script);
    world.say("look it up");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns, ended.answer.as_str()), (EndReason::Completed, 11, "aaaaaz"));
}

// proves L5
#[test]
fn a_turn_that_continues_a_paused_reply_counts_for_the_cap() {
    let mut policy = policy("default");
    (policy.turn_cap, policy.at_cap) = (2, TurnCapAction::Fail);
    let mut world = World::with_policy(policy, vec![Move::Paused(vec![opaque(1)])]);
    world.say("look it up");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.turns), (EndReason::TurnCap, 2));
}
