//! A model's title for a session, with a scripted model and processes that die.

use std::sync::atomic::Ordering;

use windlass_machine::preset;
use windlass_store::SessionLog as _;
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{Attendance, ModelRole, Policy, Record, Titles, TurnMode};

use crate::support::{Bomb, End, Point, Side, World};

fn world(title: ScriptStep) -> World {
    let policy = Policy { titles: Titles::Model, ..preset("default").expect("a preset") };
    let script = Script::default()
        .scene(Scene::when("Write a title for this conversation", [title]))
        .scene(Scene::when("go", [ScriptStep::say("Done.")]));
    World::new(policy, ScriptedModel::new(script), Attendance::Unattended)
}

/// Returns the titles that were recorded, and how many calls for one were answered.
fn titles(world: &World) -> (Vec<String>, usize) {
    let (mut titles, mut replies) = (Vec::new(), 0);
    for record in world.records() {
        match record {
            Record::SessionChanged(changed) => titles.extend(changed.title),
            Record::ModelReplied(replied) if replied.role == ModelRole::Title => replies += 1,
            _ => {}
        }
    }
    (titles, replies)
}

// proves M9
#[tokio::test]
async fn a_session_that_is_closed_after_its_first_run_has_a_title() {
    let world = world(ScriptStep::say("**The Title**"));
    let End::Ended(ended) = world.process(&Bomb::at(None)).await else { panic!("the run must end") };
    assert_eq!((ended.answer.as_str(), ended.turns), ("Done.", 1));
    assert_eq!(titles(&world), (vec!["The Title".to_owned()], 1));
    let heard = world.model.heard_requests();
    let of_title: Vec<_> = heard.iter().filter(|heard| heard.mode == TurnMode::Title).collect();
    assert_eq!((heard.len(), of_title.len(), of_title[0].messages), (2, 1, 1), "without the conversation");
    let session = world.store.find("me", "k").await.expect("a store").expect("a session");
    let row = world.store.row(session).await.expect("a store").expect("a row");
    assert_eq!(row.title.as_deref(), Some("The Title"));
}

// proves M9, J3: a title in flight
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_dies_around_a_title_leaves_it_to_the_next() {
    let (whole, bomb) = (world(ScriptStep::say("The Title")), Bomb::at(None));
    whole.process(&bomb).await;
    let appends = bomb.appends.load(Ordering::SeqCst);
    let around = (1..=appends).flat_map(|n| [Point::Append(Side::Before, n), Point::Append(Side::After, n)]);
    for death in around.chain((1..=bomb.models.load(Ordering::SeqCst)).map(Point::Model)) {
        let world = world(ScriptStep::say("The Title"));
        world.process(&Bomb::at(Some(death))).await;
        let End::Ended(ended) = world.process(&Bomb::at(None)).await else { panic!("the run must end: {death:?}") };
        assert_eq!(ended.answer, "Done.", "{death:?}");
        assert_eq!(titles(&world), (vec!["The Title".to_owned()], 1), "{death:?}");
    }
}

// proves M9
#[tokio::test]
async fn a_title_that_fails_is_given_up_and_the_session_goes_on() {
    let world = world(ScriptStep::say("never").fault(FaultKind::status(401).times(99)));
    for _ in 0..2 {
        let End::Ended(ended) = world.process(&Bomb::at(None)).await else { panic!("the run must end") };
        assert_eq!(ended.answer, "Done.");
    }
    assert_eq!(titles(&world), (vec![], 0));
    let asked = world.model.heard_requests().iter().filter(|heard| heard.mode == TurnMode::Title).count();
    assert_eq!(asked, 1, "it is not tried again");
}
