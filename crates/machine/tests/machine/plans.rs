//! Plan, execute, synthesize (S3): steps run in order, each once, and whatever happens the run ends.

use std::num::NonZeroU64;

use proptest::prelude::*;
use windlass_machine::{Effect, Fact, PlannedStep, ReplayOutcome, child_policy, replay, step_message};
use windlass_vocab::{
    Attendance, EndReason, FailureClass, ModelRole, PlanStatus, Planning, Policy, QuestionKind, Record, StopBy, Titles,
};

use crate::properties::{a_move, event, happen};
use crate::support::{Move, World, policy};

fn step(step: &str, file: Option<&str>) -> PlannedStep {
    PlannedStep { step: step.to_owned(), file: file.map(str::to_owned) }
}

fn three() -> Vec<PlannedStep> {
    vec![step("look", None), step("change", Some("a.txt")), step("change", Some("b.txt"))]
}

fn planning(script: Vec<Move>) -> World {
    let mut world = World::with_policy(Policy { planning: Planning::Always, ..policy("default") }, script);
    world.plan = three();
    world
}

fn begun(mut world: World, ends: &[EndReason]) -> World {
    world.child_ends = ends.to_vec();
    world.say("Change both prices.");
    world
}

/// The steps whose children were started, in order.
fn spawned(world: &World) -> Vec<u32> {
    let step = |record: &Record| if let Record::ChildSpawned(spawned) = record { Some(spawned.step) } else { None };
    world.journal.iter().flatten().filter_map(step).collect()
}

fn statuses(world: &World) -> Vec<PlanStatus> {
    world.state.control.plan.items.iter().map(|item| item.status).collect()
}

fn roles(world: &World) -> Vec<ModelRole> {
    let role = |record: &Record| if let Record::ModelReplied(replied) = record { Some(replied.role) } else { None };
    world.journal.iter().flatten().filter_map(role).collect()
}

fn assert_replays(world: &World) {
    let batches = world.journal.len() as u64;
    assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
}

// proves S3, M9, J3: also with a crash after every batch
#[test]
fn a_plan_is_made_its_steps_run_in_order_and_the_answer_is_written() {
    for crashes in [false, true] {
        let mut world =
            begun(planning(vec![Move::Text("1. look"), Move::Text("Both are changed.")]), &[EndReason::Completed]);
        while world.state.control.run.is_some() {
            if crashes {
                world.crash();
            }
            let effect = world.owed().into_iter().next().expect("something is owed");
            let fact = world.perform(&effect);
            world.put(fact);
        }
        let ended = world.state.control.last.clone().expect("it ended").1;
        assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "Both are changed."));
        assert_eq!((spawned(&world), statuses(&world)), (vec![0, 1, 2], vec![PlanStatus::Done; 3]));
        assert_eq!(roles(&world), [ModelRole::Planner, ModelRole::Synthesis]);
        assert_eq!(ended.turns, 0, "neither counts against the turn cap");
        let history = &world.state.transcript.history;
        assert_eq!(history.len(), 2, "the request and the answer: {history:?}");
        assert_replays(&world);
    }
}

// proves S3
#[test]
fn what_a_step_is_told_is_bounded_and_names_what_was_done() {
    let mut world = begun(planning(vec![Move::Text("plan")]), &[EndReason::Completed]);
    while world.state.control.run.as_ref().and_then(|run| run.step()).is_none_or(|step| step.step < 2) {
        let effect = world.owed().into_iter().next().expect("something is owed");
        let fact = world.perform(&effect);
        world.put(fact);
    }
    let message = step_message(&world.state, 2);
    for words in ["Change both prices.", "(3 of 3): change", "b.txt"] {
        assert!(message.text.contains(words), "{words}: {message:?}");
    }
    assert!(!message.text.contains("ended"), "what others say is not the person's request: {message:?}");
    assert_eq!((message.file.as_deref(), message.attached.len()), (Some("b.txt"), 1));
    let results = &message.attached[0].text;
    assert!(results.contains("1. look: done. child 1.1.0 ended"), "{results}");
    assert!(message.text.len() + results.len() < 2_000, "{message:?}");
}

// proves S3, L1: no plan where there is nothing to plan or nothing to do it with
#[test]
fn without_a_usable_plan_the_plain_loop_goes_on() {
    let plain = [ModelRole::Planner, ModelRole::Turn];
    let check = |world: &mut World, expected: &[ModelRole]| {
        world.say("go");
        let ended = world.finish();
        assert_eq!((ended.reason, spawned(world)), (EndReason::Completed, vec![]));
        assert_eq!(roles(world), expected);
        assert_replays(world);
    };
    for steps in [vec![], vec![step("one", None)]] {
        let mut world = planning(vec![Move::Text("no plan"), Move::Text("Done.")]);
        world.plan = steps;
        check(&mut world, &plain);
    }
    let failing = Move::Fails(99, FailureClass::Auth, Box::new(Move::Empty));
    let mut failed = planning(vec![failing, Move::Text("Done.")]);
    failed.say("go");
    let planner = failed.state.control.clone();
    assert_eq!(planner.run.as_ref().map(|run| run.started.policy.planning), Some(Planning::Always));
    failed.finish();
    assert!(failed.kinds().iter().any(|kind| kind == "AttemptFailed"));
    assert_eq!((roles(&failed), spawned(&failed)), (vec![ModelRole::Turn], vec![]));
    let mut toolless = planning(vec![Move::Text("Done.")]);
    toolless.offer = 0;
    check(&mut toolless, &[ModelRole::Turn]);
    let mut typed = planning(vec![Move::Text("{}")]).typed();
    check(&mut typed, &[ModelRole::Turn]);
    let mut unasked = planning(vec![Move::Text("Done.")]);
    unasked.run_settings.policy.planning = Planning::Optional;
    check(&mut unasked, &[ModelRole::Turn]);
}

// proves S3: the steps already done are carried
#[test]
fn a_step_that_fails_twice_hands_the_job_to_the_plain_loop() {
    let script = vec![Move::Text("plan"), Move::Text("Went on by myself.")];
    for reason in [EndReason::Failed, EndReason::Unfinished, EndReason::TurnCap] {
        let ends = [EndReason::Completed, reason];
        let mut world = planning(script.clone());
        world.plan = vec![step("look", None), step("think", None), step("tell", None)];
        let mut world = begun(world, &ends);
        let ended = world.finish();
        assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::Completed, "Went on by myself."));
        assert_eq!(spawned(&world), [0, 1, 1], "the step is tried twice");
        let nudged = world.journal.iter().flatten().find_map(|record| match record {
            Record::Nudged(nudged) => Some(nudged.text.clone()),
            _ => None,
        });
        let told = nudged.expect("the model is told");
        for words in ["1. look: done. child 1.1.0 ended [changed: f0]", "2. think: not done", "3. tell: not done"] {
            assert!(told.contains(words), "{words}: {told}");
        }
        assert_replays(&world);
    }
}

// proves S3: one file that fails does not keep the others from being done, and is named at the end
#[test]
fn a_file_that_fails_is_named_by_the_loop_in_the_answer() {
    let ends = [EndReason::Completed, EndReason::Unfinished, EndReason::Unfinished, EndReason::Completed];
    let mut world = begun(planning(vec![Move::Text("plan"), Move::Text("All went well!")]), &ends);
    let ended = world.finish();
    assert_eq!(ended.reason, EndReason::Unfinished);
    assert_eq!(
        ended.answer,
        "All went well!\n\nNot done:\n- 2. a.txt: change: not done. child 1.1.2 ended [changed: f2]"
    );
    assert_eq!((spawned(&world), statuses(&world)[1]), (vec![0, 1, 1, 2], PlanStatus::Failed));
    assert_replays(&world);
}

// proves S3: without a model to write it, the results are the answer
#[test]
fn an_answer_that_no_model_writes_is_made_from_the_results() {
    let silent = [Move::Empty, Move::Fails(99, FailureClass::Auth, Box::new(Move::Empty))];
    for last in silent {
        let mut world = begun(planning(vec![Move::Text("plan"), last]), &[EndReason::Completed]);
        let ended = world.finish();
        assert_eq!(ended.reason, EndReason::Unfinished);
        assert!(ended.answer.contains("3. b.txt: change: done. child 1.1.2 ended"), "{}", ended.answer);
    }
}

// proves S3, L8: the run ends only after its child was stopped
#[test]
fn a_stop_reaches_the_child_first() {
    for by in [StopBy::Person, StopBy::Deadline] {
        let mut world = begun(planning(vec![Move::Text("plan")]), &[EndReason::Completed]);
        while spawned(&world).is_empty() {
            let effect = world.owed().into_iter().next().expect("something is owed");
            let fact = world.perform(&effect);
            world.put(fact);
        }
        world.put(Fact::Stopped(by));
        world.crash();
        let owed = world.owed();
        assert!(matches!(owed[..], [Effect::RunStep { stop: Some(stopped), .. }] if stopped == by), "{owed:?}");
        let ended = world.finish();
        assert_eq!((ended.reason, spawned(&world)), (EndReason::Cancelled, vec![0]));
        assert_replays(&world);
    }
}

// proves S3, T8
#[test]
fn a_question_of_a_child_is_asked_here_and_its_answer_passed_on() {
    let mut world = begun(planning(vec![Move::Text("plan"), Move::Text("Done.")]).attended(), &[EndReason::Completed]);
    world.children_ask = true;
    let ended = world.finish();
    assert_eq!(ended.reason, EndReason::Completed);
    let asked: Vec<_> = world
        .journal
        .iter()
        .flatten()
        .filter_map(|record| if let Record::QuestionAsked(asked) = record { Some(asked.clone()) } else { None })
        .collect();
    assert_eq!(asked.len(), 3, "one for each child");
    assert!(matches!(asked[0].kind.subject(), QuestionKind::Approval { .. }));
    assert!(!asked[0].options.contains(&windlass_vocab::QuestionOption::Edit), "the call is not in this journal");
    assert_replays(&world);
}

// proves M7
#[test]
fn a_limit_counts_the_children_and_what_is_left_is_theirs() {
    let mut world = planning(vec![Move::Text("plan"), Move::Text("Done.")]);
    world.run_settings.policy.run_token_limit = NonZeroU64::new(5_000);
    let mut world = begun(world, &[EndReason::Completed]);
    while spawned(&world).len() < 2 {
        let effect = world.owed().into_iter().next().expect("something is owed");
        let fact = world.perform(&effect);
        world.put(fact);
    }
    let child = child_policy(&world.state, world.now).expect("a run");
    // The planner took 15, the first child 110.
    assert_eq!(child.run_token_limit, NonZeroU64::new(5_000 - 15 - 110));
    assert_eq!((child.planning, child.titles), (Planning::No, Titles::Off));
    let ended = world.finish();
    assert_eq!(ended.usage.input, 10 + 3 * 100 + 10, "its usage is that of all");
    let mut spent = begun(planning(vec![Move::Text("plan")]), &[EndReason::Completed, EndReason::BudgetSpent]);
    let ended = spent.finish();
    assert_eq!((ended.reason, ended.answer.as_str()), (EndReason::BudgetSpent, "child 1.1.1 ended"));
}

// proves J3: a failed run that is retried goes on after the steps that are done
#[test]
fn a_retry_does_not_repeat_the_steps() {
    let filtered = vec![Move::Text("plan"), Move::Filtered, Move::Text("Told now.")];
    let mut world = begun(planning(filtered), &[EndReason::Completed]);
    assert_eq!(world.finish().reason, EndReason::Failed);
    let run_settings = Box::new(world.run_settings.clone());
    world.script = vec![Move::Text("Told now.")];
    world.put(Fact::Retried(run_settings));
    assert_eq!(world.finish().answer, "Told now.");
    assert_eq!(spawned(&world), [0, 1, 2]);
    assert!(world.kinds().iter().any(|kind| kind == "Nudged"), "the model is told what is done");
    assert_replays(&world);
}

fn end() -> impl Strategy<Value = EndReason> {
    prop_oneof![
        6 => Just(EndReason::Completed),
        1 => Just(EndReason::Conversed),
        1 => Just(EndReason::Asked),
        2 => Just(EndReason::Unfinished),
        2 => Just(EndReason::Failed),
        1 => Just(EndReason::TurnCap),
        1 => Just(EndReason::Cancelled),
        1 => Just(EndReason::BudgetSpent),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    // proves S3, J3, J10, L3: `World::put` checks validity and decides again, `crash` compares fold and state
    #[test]
    fn any_sequence_of_replies_failures_crashes_and_stops_ends_with_the_steps_in_order(
        attended in any::<bool>(),
        children_ask in any::<bool>(),
        files in prop::collection::vec(any::<bool>(), 0..6),
        ends in prop::collection::vec(end(), 1..8),
        script in prop::collection::vec(a_move(), 1..6),
        events in prop::collection::vec(event(), 0..60),
    ) {
        let mut world = planning(script);
        world.plan = files.iter().map(|has_file| step("do it", has_file.then_some("a.txt"))).collect();
        (world.child_ends, world.children_ask) = (ends, children_ask);
        world.run_settings.attendance = if attended { Attendance::Attended } else { Attendance::Unattended };
        world.say("begin");
        for event in events {
            happen(&mut world, event);
        }
        if world.state.control.run.is_some() {
            world.finish();
        }
        prop_assert_eq!(world.fold(), world.state);
        // In each run the steps come in order, and each has at most two children.
        for batch in world.journal.split(|batch| batch.iter().any(|record| matches!(record, Record::RunStarted(_)))) {
            let steps: Vec<u32> = batch
                .iter()
                .flatten()
                .filter_map(|record| if let Record::ChildSpawned(spawned) = record { Some(spawned.step) } else { None })
                .collect();
            prop_assert!(steps.is_sorted(), "{:?}", steps);
            for step in &steps {
                prop_assert!(steps.iter().filter(|other| *other == step).count() <= 2);
            }
        }
    }
}
