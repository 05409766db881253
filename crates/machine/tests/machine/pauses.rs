//! Calls that ask the person something (P4): while they run, and by suspending themselves.

use std::collections::BTreeSet;

use crate::support::{Move, World, call};
use windlass_machine::{CallApproval, Effect, Fact};
use windlass_vocab::{
    Answer, AnsweredBy, CallId, CallRequested, EffectClass, Elicitation, ElicitationKind, EndReason, Json, Pause,
    QuestionAsked, QuestionOption, Record, Resumption, TurnMode,
};

fn asks(key: &str) -> Elicitation {
    let wants = ElicitationKind::Form { schema: Json::empty_object() };
    Elicitation { key: key.into(), from: "hub".into(), message: format!("Which {key}?"), wants }
}

fn form(text: &str) -> Json {
    Json::parse(text).expect("JSON")
}

fn submitted(text: &str) -> Answer {
    Answer::with(QuestionOption::Submit, form(text))
}

/// Returns a world whose model calls one tool of this class, with the call started.
fn started(effect: EffectClass) -> (World, CallId) {
    let mut world = World::new("default", vec![Move::Calls(vec![call("t0", effect)]), Move::Text("done")]).attended();
    world.say("go");
    while running(&world).is_none() {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    let id = running(&world).expect("it runs").0.call;
    (world, id)
}

fn running(world: &World) -> Option<(CallRequested, Option<Resumption>)> {
    world.owed().into_iter().find_map(|effect| match effect {
        Effect::RunCall { request, resumed, .. } => {
            Some((request.as_ref().clone(), resumed.map(|resumed| resumed.as_ref().clone())))
        }
        _ => None,
    })
}

fn asked(world: &World) -> Option<QuestionAsked> {
    world.owed().into_iter().find_map(|effect| match effect {
        Effect::Ask(asked) => Some(asked.as_ref().clone()),
        _ => None,
    })
}

fn answer(world: &mut World, answer: Answer) {
    let question = asked(world).expect("a question").question;
    assert!(!world.put(Fact::Answered { question, answer, by: AnsweredBy::Person }).is_empty(), "it is taken");
}

// proves P4, J3
#[test]
fn a_paused_call_asks_one_by_one_through_any_crash_and_is_run_again_with_the_answers() {
    for crashes_after in 0..4 {
        let (mut world, call) = started(EffectClass::Once);
        let crash = |world: &mut World, step: usize| {
            if step == crashes_after {
                world.crash();
            }
        };
        let pause = Pause { state: form(r#"{"round":1}"#), asks: vec![asks("name"), asks("size")] };
        world.put(Fact::CallPaused { call, pause });
        crash(&mut world, 0);
        assert!(running(&world).is_none(), "it does not run while it waits");
        assert_eq!(asked(&world).and_then(|asked| asked.elicitation), Some(asks("name")));
        answer(&mut world, submitted(r#"{"name":"Ada"}"#));
        crash(&mut world, 1);
        assert_eq!(asked(&world).and_then(|asked| asked.elicitation), Some(asks("size")));
        answer(&mut world, Answer::plain(QuestionOption::No));
        let (_, resumed) = running(&world).expect("it runs again");
        let answers = vec![
            ("name".to_owned(), submitted(r#"{"name":"Ada"}"#)),
            ("size".to_owned(), Answer::plain(QuestionOption::No)),
        ];
        assert_eq!(resumed, Some(Resumption { state: form(r#"{"round":1}"#), answers }));
        assert_eq!(world.finish().reason, EndReason::Completed);
    }
}

// proves P4, T8
#[test]
fn where_nobody_can_answer_a_paused_call_is_run_again_with_dismissals_at_once() {
    let mut world = World::new("default", vec![Move::Calls(vec![call("t0", EffectClass::Once)]), Move::Text("done")]);
    world.say("go");
    while running(&world).is_none() {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    let call = running(&world).expect("it runs").0.call;
    world.put(Fact::CallPaused { call, pause: Pause { state: Json::empty_object(), asks: vec![asks("name")] } });
    let (_, resumed) = running(&world).expect("it runs again");
    let dismissed = Answer::dismissed();
    assert_eq!(resumed.expect("a resumption").answers, [("name".to_owned(), dismissed)]);
    assert_eq!(world.finish().reason, EndReason::Completed);
}

// proves P4
#[test]
fn a_form_is_submitted_with_its_content_or_not_at_all() {
    let (mut world, call) = started(EffectClass::Once);
    world.put(Fact::CallPaused { call, pause: Pause { state: Json::empty_object(), asks: vec![asks("name")] } });
    let question = asked(&world).expect("a question").question;
    for option in [QuestionOption::Submit, QuestionOption::Once] {
        let answer = Answer::plain(option);
        assert_eq!(world.put(Fact::Answered { question, answer, by: AnsweredBy::Person }), []);
    }
    answer(&mut world, submitted("{}"));
    assert!(running(&world).is_some());
}

// proves P4
#[test]
fn a_call_that_asks_while_it_runs_goes_on_running_and_its_question_dies_with_it() {
    let (mut world, call) = started(EffectClass::ReadOnly);
    assert_ne!(world.put(Fact::Elicited { call, elicitation: asks("name") }), []);
    assert!(running(&world).is_some() && asked(&world).is_some(), "it runs, and asks");
    assert_eq!(world.put(Fact::Elicited { call, elicitation: asks("size") }), [], "one at a time");
    answer(&mut world, submitted("{}"));
    assert!(running(&world).is_some() && asked(&world).is_none());

    world.put(Fact::Elicited { call, elicitation: asks("again") });
    world.crash();
    assert!(asked(&world).is_none(), "whoever would have heard the answer is gone");
    world.put(Fact::Elicited { call, elicitation: asks("once more") });
    let (request, _) = running(&world).expect("it was run again");
    let done = world.perform(&Effect::RunCall {
        request: request.into(),
        edited: None,
        resumed: None,
        approved: CallApproval::No,
    });
    world.put(done);
    assert!(asked(&world).is_none());
    assert_eq!(world.finish().reason, EndReason::Completed);
    let records: Vec<&Record> = world.journal.iter().flatten().collect();
    let count = |kind: &str| records.iter().filter(|record| record.kind() == kind).count();
    assert_eq!(count("QuestionAsked"), count("QuestionAnswered"), "no question is left open");
}

// proves M6
#[test]
fn an_offer_that_changes_in_mid_run_is_a_record_and_leaves_the_turn_alone() {
    let (mut world, _) = started(EffectClass::ReadOnly);
    world.offer = 5;
    let Fact::Pinned(context, _) = world.perform(&Effect::Pin(windlass_vocab::RunId(1))) else { panic!("a context") };
    let before = world.owed();
    let joined = BTreeSet::from(["hub".to_owned()]);
    let changed = Fact::OfferChanged { context, joined: joined.clone() };
    let batch = world.put(changed.clone());
    assert!(matches!(batch.as_slice(), [Record::ContextPinned(pinned)] if pinned.joined == joined), "{batch:?}");
    assert_eq!(world.owed(), before);
    assert_eq!(world.put(changed), [], "the same again is no change");
    assert_eq!(world.state.control.run.as_ref().expect("a run").joined, joined, "it is known for the rest of the run");
}

// proves L1, M6: a turn uses the loop with tools even if they arrive between its record and its request
#[test]
fn a_turn_that_began_without_a_tool_is_one_with_tools_once_a_server_has_joined() {
    let mut world = World::new("durable-chat", vec![Move::Text("done")]);
    world.offer = 0;
    world.say("hello");
    let pin = world.owed().remove(0);
    let pinned = world.perform(&pin);
    world.put(pinned);
    let mode = |world: &World| match world.owed().as_slice() {
        [Effect::CallModel { mode, .. }] => *mode,
        owed => panic!("{owed:?}"),
    };
    assert_eq!(mode(&world), TurnMode::Talk);
    world.offer = 2;
    let Fact::Pinned(context, _) = world.perform(&pin) else { panic!("a context") };
    world.put(Fact::OfferChanged { context, joined: BTreeSet::from(["hub".to_owned()]) });
    assert_eq!(mode(&world), TurnMode::Tools);
}
