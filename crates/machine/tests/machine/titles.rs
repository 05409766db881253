//! A model's title for a session (M9): asked for once, after the first run, and never in the way of anything.

use std::num::NonZeroU64;

use windlass_machine::{AttemptKey, Effect, Fact, ReplayOutcome, replay};
use windlass_vocab::{
    EndReason, Failure, FailureClass, ModelName, ModelRole, NextAttempt, Policy, Record, RunModel, Titles, TurnMode,
};

use crate::support::{Move, World, policy};

fn titled() -> Policy {
    Policy { titles: Titles::Model, ..policy("default") }
}

fn world(policy: Policy) -> World {
    World::with_policy(policy, vec![Move::Text("The answer."), Move::Text("\"Mending the parser.\"\n")])
}

/// Returns the call for a title that is owed: its key and its model.
fn owed_title(world: &World) -> Option<(AttemptKey, ModelName)> {
    match &world.owed()[..] {
        [Effect::CallModel { key, model, role: ModelRole::Title, mode: TurnMode::Title, .. }] => {
            Some((*key, model.clone()))
        }
        _ => None,
    }
}

fn titles(world: &World) -> Vec<String> {
    let title = |record: &Record| match record {
        Record::SessionChanged(changed) => changed.title.clone(),
        _ => None,
    };
    world.journal.iter().flatten().filter_map(title).collect()
}

fn perform_next(world: &mut World) -> Vec<Record> {
    let effect = world.owed().into_iter().next().expect("something is owed");
    let fact = world.perform(&effect);
    world.put(fact)
}

// proves M9, J3
#[test]
fn a_title_is_written_once_when_the_first_run_is_over() {
    for crashes in [false, true] {
        let mut world = world(titled());
        world.say("mend the parser");
        assert_eq!(world.finish().reason, EndReason::Completed);
        let history = world.state.transcript.history.clone();
        if crashes {
            world.crash();
        }
        assert!(owed_title(&world).is_some(), "{:?}", world.owed());
        let spent = world.state.control.spending;
        let batch = perform_next(&mut world);
        let [Record::ModelReplied(replied), Record::SessionChanged(changed)] = &batch[..] else {
            panic!("a reply and its title: {batch:?}")
        };
        assert_eq!((replied.role, changed.title.as_deref()), (ModelRole::Title, Some("Mending the parser")));
        assert_eq!(world.state.transcript.history, history, "a title is no part of the conversation");
        assert!(world.state.control.spending.tokens > spent.tokens, "it is paid for like any call");
        assert!(world.owed().is_empty());
        world.say("more");
        world.finish();
        assert!(world.owed().is_empty(), "one title is enough: {:?}", world.owed());
        assert_eq!(titles(&world), ["Mending the parser"]);
        assert!(matches!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { .. }));
    }
}

// proves M9: the role's chain, with the retries of the policy; a failure loses nothing and is not repeated
#[test]
fn a_title_that_no_model_writes_is_given_up() {
    let mut world = world(titled());
    world.run_settings.role_chains = [(ModelRole::Title, vec!["small".into(), "second".into()])].into();
    world.run_settings.models = ["first", "second", "small"].map(RunModel::named).to_vec();
    world.say("go");
    world.finish();
    let mut asked = Vec::new();
    while let Some((attempt, model)) = owed_title(&world) {
        asked.push(model.0);
        let failure = Failure { status: Some(503), ..Failure::new(FailureClass::Transient, "down") };
        let batch = world.put(Fact::Failed { attempt, failure, usage: None });
        assert!(matches!(&batch[..], [Record::AttemptFailed(failed)] if failed.role == ModelRole::Title), "{batch:?}");
        assert!(asked.len() < 50, "it is bounded");
    }
    let tries = usize::try_from(world.run_settings.policy.retry.tries).expect("few");
    let expected: Vec<_> = ["small", "second"].iter().flat_map(|model| vec![(*model).to_owned(); tries]).collect();
    assert_eq!(asked, expected);
    assert_eq!(world.nexts().last(), Some(&NextAttempt::End));
    assert_eq!((titles(&world), world.owed().len()), (vec![], 0));
    world.crash();
    world.say("more");
    assert_eq!(world.finish().reason, EndReason::Completed);
    assert_eq!(world.owed().len(), 0, "it is not tried again");
    assert!(matches!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { .. }));
}

// proves M9: nobody waits for a title
#[test]
fn a_message_comes_before_the_title() {
    let mut world = world(titled());
    world.say("go");
    world.finish();
    let (title, _) = owed_title(&world).expect("a title is owed");
    world.say("more");
    assert_eq!(owed_title(&world), None);
    // A reply that comes all the same is the title's, whatever the run waits for.
    world.finish();
    assert_eq!(owed_title(&world).map(|(key, _)| key), Some(title));
    perform_next(&mut world);
    assert_eq!(titles(&world).len(), 1);
}

// proves M9, M7
#[test]
fn no_title_is_asked_for_where_nothing_was_answered_or_a_limit_forbids_it() {
    let limited = Policy { session_token_limit: NonZeroU64::new(3_000), ..titled() };
    let failing = vec![Move::Fails(99, FailureClass::Auth, Box::new(Move::Text("never")))];
    for (policy, script, reported) in
        [(policy("default"), None, 10), (limited, None, 5_000), (titled(), Some(failing), 10)]
    {
        let mut world = world(policy);
        world.script = script.unwrap_or(world.script);
        world.reported = reported;
        world.say("go");
        world.finish();
        assert!(world.owed().is_empty(), "{:?}", world.owed());
        assert_eq!(titles(&world), Vec::<String>::new());
    }
}
