//! How runs end (L3, S2, L8): an empty or incomplete reply is no answer, and a stop drops messages no model has seen.

use crate::support::{Move, World, policy};
use windlass_machine::{Fact, PRESETS};
use windlass_vocab::{EndReason, EndsBy, Message, Nudge, StopBy};

fn ended(world: &mut World) -> (EndReason, String) {
    world.say("go");
    let ended = world.finish();
    (ended.reason, ended.answer)
}

fn words(world: &World) -> Vec<String> {
    let said = |message: &Message| if let Message::User { text, .. } = message { Some(text.clone()) } else { None };
    world.state.transcript.history.iter().filter_map(said).collect()
}

#[test]
fn empty_replies_are_nudged_once_then_summed_up() {
    // proves S2
    for empty in [Move::Empty, Move::Text(" \n\t")] {
        let mut world = World::new("default", vec![empty.clone(), Move::Text("here")]);
        assert_eq!(
            ended(&mut world),
            (EndReason::Completed, if matches!(empty, Move::Empty) { "here" } else { " \n\there" }.into())
        );
        let mut world = World::new("default", vec![empty]);
        world.say("go");
        let ended = world.finish();
        assert_eq!((ended.reason, ended.turns), (EndReason::Unfinished, 3));
    }
}

#[test]
fn a_run_whose_last_reply_is_empty_is_unfinished_in_every_preset_and_on_every_way() {
    // proves L3, S2
    for name in PRESETS {
        for nudges_off in [false, true] {
            for empty in [Move::Empty, Move::Text(""), Move::Text("  \n"), Move::Text("\u{200b}")] {
                for (typed, offer) in [(false, 3), (false, 0), (true, 3), (true, 0)] {
                    let mut policy = policy(name);
                    if nudges_off {
                        policy.nudges.clear();
                    }
                    let mut world = World::with_policy(policy, vec![empty.clone()]);
                    world.wrap_up = "";
                    world.offer = offer;
                    let mut world = if typed { world.typed() } else { world };
                    let (reason, answer) = ended(&mut world);
                    assert_eq!(reason, EndReason::Unfinished, "{name} {nudges_off} {empty:?} {typed} {offer}");
                    assert!(!answer.trim().is_empty(), "it says why");
                }
            }
        }
    }
}

#[test]
fn what_was_said_before_an_empty_last_reply_is_kept() {
    // proves S2
    let mut policy = policy("default");
    policy.nudges.remove(&Nudge::Empty);
    let mut world = World::with_policy(policy, vec![Move::CutOff("half"), Move::Empty]);
    assert_eq!(ended(&mut world), (EndReason::Unfinished, "half".into()));
}

#[test]
fn a_reply_cut_off_by_length_is_continued_and_joined_up_to_three_times() {
    // proves S2
    let mut world = World::new("default", vec![Move::CutOff("one "), Move::CutOff("two "), Move::Text("three")]);
    world.say("go");
    let whole = world.finish();
    assert_eq!((whole.reason, whole.answer.as_str(), whole.cut_off), (EndReason::Completed, "one two three", false));
    let mut world = World::new("default", vec![Move::CutOff("x")]);
    world.say("go");
    let ended = world.finish();
    let told = (ended.reason, ended.answer.as_str(), ended.turns, ended.cut_off);
    assert_eq!(told, (EndReason::Unfinished, "xxxx", 4, true));
}

#[test]
fn a_run_that_ends_with_a_reply_cut_off_by_length_says_so() {
    // proves L3, S2
    for name in PRESETS {
        let mut policy = policy(name);
        policy.nudges.clear();
        policy.ends_by = EndsBy::Text;
        let mut world = World::with_policy(policy, vec![Move::CutOff("half an ans")]);
        world.say("go");
        let ended = world.finish();
        let told = (ended.reason, ended.answer.as_str(), ended.cut_off);
        assert_eq!(told, (EndReason::Unfinished, "half an ans", true), "{name}");
    }
    // An output that fits is complete, whatever was cut off after it.
    let mut policy = policy("default");
    policy.nudges.clear();
    let mut world = World::with_policy(policy, vec![Move::CutOff("{\"n\": 1} and so o")]).typed();
    world.say("go");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.cut_off, ended.output.is_some()), (EndReason::Completed, true, true));
}

#[test]
fn an_empty_reply_on_the_way_loses_nothing_of_a_cut_off_answer() {
    // proves S2
    let mut world = World::new("default", vec![Move::CutOff("abc"), Move::Empty, Move::Text("def")]);
    world.say("go");
    assert_eq!(world.finish().answer, "abcdef");
}

#[test]
fn a_stop_drops_what_was_said_and_no_model_has_seen() {
    // proves L8
    for (stop, expected) in [
        (StopBy::Person, vec!["first", "afterwards"]),
        (StopBy::Deadline, vec!["first", "and this", "and that", "afterwards"]),
    ] {
        for turn in [0, 1] {
            let mut world = World::new("default", vec![Move::Text("never")]);
            world.say("first");
            world.until_turn(turn);
            world.say("and this");
            world.say("and that");
            world.put(Fact::Stopped(stop));
            if world.state.control.run.is_some() {
                world.finish();
            }
            let (_, ended) = world.state.control.last.clone().expect("an end");
            let dropped: Vec<&str> = ended.dropped.iter().map(|id| id.0.as_str()).collect();
            assert_eq!(dropped, if stop == StopBy::Person { vec!["m2", "m3"] } else { vec![] }, "in turn {turn}");
            world.say("afterwards");
            world.finish();
            assert_eq!(words(&world), expected, "in turn {turn}");
            assert_eq!(world.fold(), world.state);
        }
    }
}

#[test]
fn what_a_model_has_seen_stays_when_the_run_is_stopped() {
    // proves L8
    let calls = Move::Calls(vec![crate::support::call("slow", windlass_vocab::EffectClass::Once)]);
    let mut world = World::new("default", vec![calls, Move::Text("never")]);
    world.say("first");
    world.until_turn(1);
    world.say("seen at the next turn");
    world.until_turn(2);
    world.say("never seen");
    world.put(Fact::Stopped(StopBy::Person));
    assert_eq!(world.finish().dropped.len(), 1);
    assert_eq!(words(&world), ["first", "seen at the next turn"]);
}

#[test]
fn a_stop_drops_words_that_came_while_a_person_was_asked_whether_to_go_on() {
    // proves L8
    let calls = Move::Calls(vec![crate::support::call("same", windlass_vocab::EffectClass::Once)]);
    let mut world = World::new("default", vec![calls]).attended();
    world.say("first");
    while world.state.control.run.as_ref().is_some_and(|run| run.parked.is_none()) {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    let before = world.state.transcript.history.len();
    world.say("do something else");
    world.put(Fact::Stopped(StopBy::Person));
    assert_eq!(world.state.transcript.history.len(), before);
    world.script = vec![Move::Text("yes")];
    world.say("afterwards");
    world.finish();
    assert!(!words(&world).iter().any(|words| words == "do something else"));
    assert_eq!(words(&world).last().map(String::as_str), Some("afterwards"));
}
