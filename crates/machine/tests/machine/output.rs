//! Typed output: an answer ends the run only if it fits the schema (L10).

use crate::support::{Move, World, call, policy};
use windlass_machine::{Effect, Fact, read_output};
use windlass_vocab::{
    Dialect, EffectClass, EndReason, Failure, FailureClass, Message, ModelName, NextAttempt, NudgeCause, OutputForm,
    Policy, Record, RunEnded, RunModel, StopReason, TurnCapAction, TurnMode,
};

const FITS: Move = Move::Text("{\"n\": 1}");

fn run(script: Vec<Move>) -> (World, RunEnded) {
    run_under(policy("default"), script)
}

fn run_under(policy: Policy, script: Vec<Move>) -> (World, RunEnded) {
    let mut world = World::with_policy(policy, script).typed();
    world.say("begin");
    let ended = world.finish();
    (world, ended)
}

fn nudges(world: &World) -> Vec<(NudgeCause, String)> {
    let nudge = |record: &Record| match record {
        Record::Nudged(nudged) => Some((nudged.why, nudged.text.clone())),
        _ => None,
    };
    world.journal.iter().flatten().filter_map(nudge).collect()
}

fn modes(world: &World) -> Vec<TurnMode> {
    let mode = |record: &Record| match record {
        Record::TurnStarted(started) => Some(started.mode),
        _ => None,
    };
    world.journal.iter().flatten().filter_map(mode).collect()
}

// proves L10
#[test]
fn an_answer_that_fits_ends_the_run_with_its_output() {
    let (world, ended) = run(vec![Move::Calls(vec![call("t0", EffectClass::ReadOnly)]), FITS]);
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 2));
    assert_eq!(ended.output.expect("an output").as_str(), "{\"n\": 1}");
    assert_eq!(nudges(&world), []);
}

// proves L10
#[test]
fn an_answer_that_does_not_fit_is_sent_back_with_what_is_wrong() {
    let (world, ended) = run(vec![Move::Text("Let me see."), Move::Misfit("{\"n\": \"one\"}"), FITS]);
    assert_eq!((ended.reason, ended.turns), (EndReason::Completed, 3));
    assert_eq!(ended.answer, "{\"n\": 1}", "what did not fit is no part of the answer");
    let nudges = nudges(&world);
    assert_eq!(nudges.len(), 2);
    assert!(nudges.iter().all(|(why, _)| *why == NudgeCause::Misfit));
    assert!(nudges[0].1.contains("not well-formed JSON"), "{}", nudges[0].1);
    assert!(nudges[1].1.contains("It does not fit."), "{}", nudges[1].1);
    let said = |message: &Message| matches!(message, Message::User { text, .. } if text.contains("It does not fit."));
    assert!(world.state.transcript.history.iter().any(said), "the model sees it");
}

// proves L10
#[test]
fn the_last_correction_is_asked_for_without_tools() {
    let (world, _) = run(vec![Move::Misfit("{}"), Move::Misfit("{}"), FITS]);
    assert_eq!(modes(&world), [TurnMode::Tools, TurnMode::Tools, TurnMode::Talk]);
}

// proves L10
#[test]
fn after_so_many_corrections_the_run_fails_and_says_what_was_wrong() {
    for corrections in [0, 1, 3] {
        let policy = Policy { output_corrections: corrections, ..policy("default") };
        let (world, ended) = run_under(policy, vec![Move::Misfit("{}")]);
        assert_eq!((ended.reason, ended.turns, ended.output), (EndReason::Failed, corrections + 1, None));
        let failure = ended.failure.expect("a failure");
        assert_eq!(failure.class, FailureClass::Protocol);
        assert!(failure.message.contains("It does not fit."), "{}", failure.message);
        assert_eq!(nudges(&world).len(), corrections as usize);
    }
}

// proves L10, L5
#[test]
fn corrections_count_as_turns() {
    let policy = Policy { turn_cap: 1, at_cap: TurnCapAction::WrapUp, ..policy("default") };
    let (_, ended) = run_under(policy, vec![Move::Misfit("{}")]);
    assert_eq!((ended.reason, ended.output), (EndReason::Unfinished, None));
}

// proves L10
#[test]
fn an_output_cut_off_by_length_is_put_together() {
    let (_, ended) = run(vec![Move::CutOff("{\"n\":"), Move::Text(" 1}")]);
    assert_eq!(ended.output.expect("an output").as_str(), "{\"n\": 1}");
}

// proves L10
#[test]
fn a_run_without_a_schema_takes_any_words_for_its_answer() {
    let mut world = World::new("default", vec![Move::Text("words")]);
    world.say("begin");
    let ended = world.finish();
    assert_eq!((ended.reason, ended.answer.as_str(), ended.output), (EndReason::Completed, "words", None));
}

// proves L10, J3: `World::put` decides every batch again from what is recorded and compares
#[test]
fn a_crash_after_any_record_changes_nothing() {
    let script = || vec![Move::Misfit("{}"), Move::Calls(vec![call("t0", EffectClass::ReadOnly)]), Move::Empty, FITS];
    let (whole, ended) = run(script());
    let batches = whole.journal.len();
    for at in 3..batches {
        let mut world = World::new("default", script()).typed();
        world.say("begin");
        while world.journal.len() < at {
            let effect = world.owed().into_iter().next().expect("something is owed");
            let fact = world.perform(&effect);
            world.put(fact);
        }
        // A reply that does not fit is recorded together with its nudge, or not at all.
        let owed = world.owed().into_iter().next().expect("something is owed");
        let _lost = world.perform(&owed);
        world.crash();
        let after = world.finish();
        assert_eq!((after.output, after.turns), (ended.output.clone(), ended.turns), "crashed after batch {at}");
        assert_eq!(nudges(&world), nudges(&whole), "crashed after batch {at}");
    }
}

// proves L10
#[test]
fn json_is_found_among_words_and_fences() {
    for (answer, want) in [
        ("{\"a\": 1}", Some("{\"a\": 1}")),
        (" [1, 2]\n", Some("[1, 2]")),
        ("7", Some("7")),
        ("```json\n{\"a\": {\"b\": 2}}\n```", Some("{\"a\": {\"b\": 2}}")),
        ("Here it is: {\"a\": 1}. Done.", Some("{\"a\": 1}")),
        ("no JSON at all", None),
        ("{\"a\": 1", None),
        ("} {", None),
        ("", None),
        ("{\"a\": 1} and {\"b\": 2}", None),
    ] {
        assert_eq!(read_output(answer).ok().as_ref().map(|json| json.as_str()), want, "{answer}");
    }
}

// proves L10, L3
#[test]
fn what_a_provider_withholds_is_not_asked_for_again() {
    let (world, ended) = run(vec![Move::Filtered]);
    assert_eq!((ended.reason, ended.turns), (EndReason::Failed, 1));
    assert_eq!(nudges(&world), []);
    let stop =
        |record: &Record| matches!(record, Record::ModelReplied(replied) if replied.stop == StopReason::Filtered);
    assert!(world.journal.iter().flatten().any(stop));
}

// proves L10: a server that refuses the form of the output is asked in the next one, and remembered
#[test]
fn an_output_that_a_server_refuses_is_asked_for_in_another_form() {
    let refuse = |world: &mut World| {
        let Some(Effect::CallModel { key, model, .. }) = world.owed().first().cloned() else { panic!("a call") };
        let failure = Failure { output_refused: true, ..Failure::new(FailureClass::BadRequest, "no schema here") };
        world.put(Fact::Failed { attempt: key, failure, usage: None });
        model
    };
    let started = |world: &mut World| {
        world.say("go");
        while !matches!(world.owed()[..], [Effect::CallModel { .. }]) {
            let effect = world.owed().remove(0);
            let fact = world.perform(&effect);
            world.put(fact);
        }
    };
    let mut world = World::new("default", vec![Move::Text("{}")]).typed();
    started(&mut world);
    for form in [OutputForm::Tool, OutputForm::Prompt] {
        let model = refuse(&mut world);
        assert_eq!(world.nexts().last(), Some(&NextAttempt::Output { form }));
        assert_eq!(world.state.control.output_form(&model), form);
    }
    world.crash();
    assert_eq!(world.finish().reason, EndReason::Completed);
    // The next run begins with the form that is left; refused once more, the request can't succeed.
    started(&mut world);
    let model = refuse(&mut world);
    assert_eq!(world.state.control.output_form(&model), OutputForm::Prompt);
    assert_eq!(world.nexts().last(), Some(&NextAttempt::End));
    // A run without an output has no form to change.
    let mut plain = World::new("default", vec![Move::Text("done")]);
    started(&mut plain);
    refuse(&mut plain);
    assert_eq!(plain.nexts(), [NextAttempt::End]);
}

// proves T4: a server that refuses the schema of calls is asked without it, and not again in the session
#[test]
fn a_run_goes_on_without_a_schema_of_calls_that_its_server_refuses() {
    let refuse = |world: &mut World, status| {
        world.say("go");
        while !matches!(world.owed()[..], [Effect::CallModel { .. }]) {
            let effect = world.owed().remove(0);
            let fact = world.perform(&effect);
            world.put(fact);
        }
        let Some(Effect::CallModel { key, model, .. }) = world.owed().first().cloned() else { panic!("a call") };
        let held = world.state.control.constrains(&model);
        let failure = Failure { status: Some(status), ..Failure::new(FailureClass::BadRequest, "unknown field") };
        world.put(Fact::Failed { attempt: key, failure, usage: None });
        (model, held)
    };
    let with = |constrained, dialect| {
        let mut world = World::new("default", vec![Move::Text("done"), Move::Text("done")]);
        let model = |name| RunModel { constrained, dialect: Some(dialect), ..RunModel::named(name) };
        world.run_settings.models = vec![model("first"), model("second")];
        world
    };
    let mut mixed = with(true, Dialect::BareJson);
    mixed.run_settings.models[1].constrained = false;
    refuse(&mut mixed, 400);
    let (control, second) = (&mixed.state.control, ModelName::from("second"));
    assert!(control.answers_in_json(&second) && !control.constrains(&second), "told of the form, and not held to it");
    let mut world = with(true, Dialect::BareJson);
    let (model, held) = refuse(&mut world, 400);
    assert!(held && !world.state.control.constrains(&model) && world.state.control.answers_in_json(&model));
    assert_eq!(world.nexts(), [NextAttempt::Output { form: OutputForm::Prompt }]);
    world.crash();
    assert_eq!(world.finish().reason, EndReason::Completed);
    let (_, held) = refuse(&mut world, 400);
    assert!(!held, "it is remembered");
    assert_eq!(world.nexts().last(), Some(&NextAttempt::End));
    for (constrained, dialect, status) in
        [(false, Dialect::BareJson, 400), (true, Dialect::ToolTag, 400), (true, Dialect::BareJson, 404)]
    {
        let mut world = with(constrained, dialect);
        refuse(&mut world, status);
        assert_ne!(
            world.nexts().first(),
            Some(&NextAttempt::Output { form: OutputForm::Prompt }),
            "{dialect:?} {status}"
        );
    }
}
