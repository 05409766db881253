//! The intent router (T2): asked first, never in the way, and its verdict survives a crash.

use std::num::NonZeroU64;

use windlass_machine::{Effect, Fact, ReplayOutcome, child_policy, intent_request, replay};
use windlass_vocab::{
    EffectClass, EndReason, FailureClass, Intent, IntentRouter, ModelRole, Planning, Policy, Record, StopBy, TurnMode,
};

use crate::support::{Move, World, call, policy};

fn routed(router: Move, script: Vec<Move>) -> World {
    let mut world = World::with_policy(Policy { router: IntentRouter::Model, ..policy("default") }, script);
    world.router = router;
    world
}

fn answer() -> Vec<Move> {
    vec![Move::Text("The answer.")]
}

/// The modes of the turns, in order.
fn modes(world: &World) -> Vec<TurnMode> {
    let mode = |record: &Record| if let Record::TurnStarted(started) = record { Some(started.mode) } else { None };
    world.journal.iter().flatten().filter_map(mode).collect()
}

fn verdicts(world: &World) -> Vec<Intent> {
    let verdict = |record: &Record| match record {
        Record::ModelReplied(replied) => replied.intent,
        _ => None,
    };
    world.journal.iter().flatten().filter_map(verdict).collect()
}

fn perform_next(world: &mut World) {
    let effect = world.owed().into_iter().next().expect("something is owed");
    let fact = world.perform(&effect);
    world.put(fact);
}

fn assert_replays(world: &World) {
    let batches = world.journal.len() as u64;
    assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
}

// proves T2, M9, J3: also with a crash after every batch
#[test]
fn a_verdict_is_recorded_and_decides_whether_tools_are_offered() {
    for (said, verdict, mode) in [
        ("DIRECT", Intent::Direct, TurnMode::Talk),
        ("AGENT", Intent::Agent, TurnMode::Tools),
        ("Let me think about DIRECT and AGENT.", Intent::Agent, TurnMode::Tools),
    ] {
        for crashes in [false, true] {
            let mut world = routed(Move::Text(said), answer());
            world.say("Hello");
            while world.state.control.run.is_some() {
                if crashes {
                    world.crash();
                }
                perform_next(&mut world);
            }
            let ended = world.state.control.last.clone().expect("it ended").1;
            assert_eq!((ended.reason, ended.answer.as_str(), ended.turns), (EndReason::Completed, "The answer.", 1));
            assert_eq!((modes(&world), verdicts(&world)), (vec![TurnMode::Route, mode], vec![verdict]), "{said}");
            assert_eq!(world.state.transcript.history.len(), 2, "the verdict is no part of the conversation");
            assert_replays(&world);
        }
    }
}

// proves T2: off unless asked for, and not where it has nothing to say
#[test]
fn a_run_that_wants_no_verdict_asks_for_none() {
    let usual = || routed(Move::Text("DIRECT"), answer());
    let mut off = usual();
    off.run_settings.policy.router = IntentRouter::Off;
    let mut planned = usual();
    planned.run_settings.policy.planning = Planning::Always;
    let mut toolless = usual();
    toolless.run_settings.policy.tools.clear();
    let mut spent = usual();
    spent.run_settings.policy.run_token_limit = NonZeroU64::new(1);
    for mut world in [off, planned, toolless, spent] {
        world.say("Hello");
        world.finish();
        assert_eq!(verdicts(&world), []);
        assert_replays(&world);
    }
}

// proves T2: a router that fails, is cut off or is filtered costs no run its tools
#[test]
fn without_a_clear_verdict_tools_are_offered() {
    for router in [
        Move::Fails(99, FailureClass::Auth, Box::new(Move::Empty)),
        Move::CutOff("DIRECT"),
        Move::Filtered,
        Move::Empty,
    ] {
        let mut world = routed(router.clone(), answer());
        world.say("Hello");
        assert_eq!(world.finish().reason, EndReason::Completed);
        assert_eq!(modes(&world), [TurnMode::Route, TurnMode::Tools], "{router:?}");
        assert!(verdicts(&world).iter().all(|verdict| *verdict == Intent::Agent), "{router:?}");
        assert_replays(&world);
    }
}

// proves T2, M6: what a provider has cached with tools is not sent again without them
#[test]
fn a_conversation_with_calls_is_not_routed() {
    let look = Move::Calls(vec![call("look", EffectClass::ReadOnly)]);
    let mut world = routed(Move::Text("AGENT"), vec![look, Move::Text("Found.")]);
    for words in ["Where is it?", "Thank you"] {
        world.say(words);
        world.finish();
    }
    assert_eq!(modes(&world).iter().filter(|mode| **mode == TurnMode::Route).count(), 1);
    let mut talk = routed(Move::Text("DIRECT"), answer());
    for words in ["Hello", "How are you?"] {
        talk.say(words);
        talk.finish();
    }
    assert_eq!(verdicts(&talk), [Intent::Direct, Intent::Direct]);
    talk.say("Read it");
    let asked = intent_request(&talk.state);
    assert!(asked.contains("<before>\nThe answer.") && asked.ends_with("<request>\nRead it\n</request>"), "{asked}");
}

// proves T2, L7: a message that may need tools does not join a run without any
#[test]
fn a_message_waits_for_a_run_of_its_own() {
    let mut world = routed(Move::Text("DIRECT"), answer());
    world.say("Hello");
    assert!(!world.state.control.run.as_ref().is_some_and(|run| run.takes_words()), "while the router is asked");
    perform_next(&mut world);
    perform_next(&mut world);
    assert!(!world.state.control.run.as_ref().is_some_and(|run| run.takes_words()), "while it is answered");
}

// proves T2, L8
#[test]
fn a_stop_ends_the_run_while_the_router_is_asked() {
    let mut world = routed(Move::Text("DIRECT"), answer());
    world.say("Hello");
    world.put(Fact::Stopped(StopBy::Person));
    assert!(matches!(world.owed()[..], [Effect::HandBack(_)]), "{:?}", world.owed());
    perform_next(&mut world);
    let ended = world.state.control.last.clone().expect("it ended").1;
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Cancelled, ""));
    assert_replays(&world);
}

// proves T2, M9: the role has a chain of its own; a step of a plan is not routed
#[test]
fn the_router_is_called_by_its_role() {
    let mut world = routed(Move::Text("AGENT"), answer());
    world.run_settings.role_chains.insert(ModelRole::Router, vec!["small".into()]);
    world.say("Hello");
    let [Effect::CallModel { model, role: ModelRole::Router, mode: TurnMode::Route, .. }] = &world.owed()[..] else {
        panic!("a call of the router: {:?}", world.owed())
    };
    assert_eq!(model.as_str(), "small");
    assert_eq!(child_policy(&world.state, world.now).expect("a policy").router, IntentRouter::Off);
}
