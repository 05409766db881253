//! Forks during a run, and replays of a journal.

use crate::support::{Move, World, call};
use windlass_machine::{Difference, Fact, ReplayOutcome, replay};
use windlass_vocab::EffectClass::Once;
use windlass_vocab::{
    EndReason, FailureClass, Json, NextAttempt, OutcomeKind, Record, RunId, StopBy, Unknown, Verdict,
};

/// Returns a world with two calls without results: one may have started, the other waits its turn.
fn calling() -> World {
    let mut world = World::new("task", vec![Move::Calls(vec![call("slow", Once), call("next", Once)])]);
    world.say("go");
    for _ in 0..2 {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    world
}

#[test]
fn a_fork_in_mid_run_interrupts_the_open_calls_and_ends_the_run() {
    // proves J8
    let world = calling();
    let fork = world.forked_after(world.journal.len());
    let (run, ended) = fork.state.control.last.clone().expect("the run is over");
    assert_eq!((run, ended.reason), (RunId(1), EndReason::Cancelled));
    assert_eq!(fork.results().iter().map(|(outcome, _)| *outcome).collect::<Vec<_>>(), [OutcomeKind::Interrupted; 2]);
    assert!(fork.results().iter().all(|(_, text)| text.contains("forked here")), "{:?}", fork.results());
    assert!(world.state.control.run.is_some(), "the origin goes on as if nothing had been");
}

#[test]
fn a_fork_of_a_run_that_waits_for_a_person_asks_no_more() {
    // proves J8
    let asks = vec![Move::Calls(vec![call("rm", Once).judged(Verdict::Ask)]), Move::Text("well")];
    let mut world = World::new("default", asks).attended();
    world.say("go");
    for _ in 0..2 {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    assert!(matches!(world.owed()[..], [windlass_machine::Effect::Ask(_)]));
    let fork = world.forked_after(world.journal.len());
    assert_eq!(fork.owed(), vec![]);
}

#[test]
fn a_fork_between_runs_adds_nothing() {
    // proves J8
    let mut world = World::new("default", vec![Move::Text("done")]);
    world.say("go");
    world.finish();
    assert_eq!(world.forked_after(world.journal.len()).journal.len(), world.journal.len());
}

#[test]
fn a_fork_of_a_run_that_was_being_stopped_ends_as_stopped() {
    // proves J8
    let mut world = World::new("default", vec![Move::Text("never")]);
    world.say("go");
    let pin = world.owed().remove(0);
    let fact = world.perform(&pin);
    world.put(fact);
    world.put(Fact::Stopped(StopBy::Person));
    let fork = world.forked_after(world.journal.len());
    let stops = fork.journal.iter().flatten().filter(|record| matches!(record, Record::CancelAsked(_))).count();
    assert_eq!((fork.state.control.run.is_none(), stops), (true, 1));
}

#[test]
fn an_interrupted_run_of_a_fork_can_be_tried_again() {
    // proves J8, J3
    let world = calling();
    let mut fork = world.forked_after(world.journal.len());
    fork.script = vec![Move::Calls(vec![call("task_completion", Once).ending(windlass_vocab::Ending::Completed)])];
    fork.put(Fact::Retried(Box::new(fork.run_settings.clone())));
    assert_eq!(fork.finish().reason, EndReason::Completed);
}

#[test]
fn a_message_belongs_to_the_newest_try_of_its_run() {
    // proves J6, J3
    let mut world = World::new("default", vec![Move::Fails(1, FailureClass::Auth, Box::new(Move::Text("at last")))]);
    world.say("go");
    assert_eq!(world.finish().reason, EndReason::Failed);
    for tries in 2..=3 {
        world.put(Fact::Retried(Box::new(world.run_settings.clone())));
        assert_eq!(world.state.transcript.seen[&"m1".into()], RunId(tries), "while it is open");
        assert_eq!(world.finish().reason, EndReason::Failed);
    }
    world.say("another");
    assert_eq!(
        (world.state.transcript.seen[&"m1".into()], world.state.transcript.seen[&"m2".into()]),
        (RunId(3), RunId(4))
    );
}

/// Returns a run with retries (whose waits derive from the session's id), calls and a crash.
fn eventful() -> World {
    let step = Move::Fails(2, FailureClass::Transient, Box::new(Move::Calls(vec![call("t", Once)])));
    let mut world = World::new("operator", vec![step, Move::Text("done")]);
    world.say("go");
    for _ in 0..4 {
        let effect = world.owed().remove(0);
        let fact = world.perform(&effect);
        world.put(fact);
    }
    world.crash();
    world.finish();
    world
}

#[test]
fn a_journal_is_decided_again_as_it_stands() {
    // proves J8
    let world = eventful();
    let batches = world.journal.len() as u64;
    assert_eq!(replay(world.state.session, &world.envelopes()), ReplayOutcome::Same { batches });
    assert_eq!(replay(world.state.session, &[]), ReplayOutcome::Same { batches: 0 });
}

#[test]
fn what_a_fork_took_over_is_decided_as_its_writer_would() {
    // proves J8
    let mut fork = eventful().forked_after(6).forked_after(5);
    fork.script = vec![Move::Fails(2, FailureClass::Transient, Box::new(Move::Text("well")))];
    fork.say("another way");
    fork.finish();
    let mut journal = fork.envelopes();
    let batches = fork.journal.len() as u64;
    assert_eq!(replay(fork.state.session, &journal), ReplayOutcome::Same { batches });
    let waits =
        |record: &Record| matches!(record, Record::AttemptFailed(f) if matches!(f.next, NextAttempt::Retry { .. }));
    assert!(journal.iter().any(|envelope| waits(&envelope.record)), "there is a wait to tell sessions apart by");
    if let Record::SessionOpened(opened) = &mut journal[0].record {
        opened.forked_from.clear();
    }
    assert!(
        matches!(replay(fork.state.session, &journal), ReplayOutcome::Differs(_)),
        "without its origin nobody knows"
    );
}

#[test]
fn the_first_difference_is_named() {
    // proves J8
    let world = eventful();
    let whole = world.envelopes();
    let place = |kind: &str| whole.iter().position(|envelope| envelope.record.kind() == kind).expect("it is there");
    let differs = |journal: &[windlass_vocab::Envelope]| match replay(world.state.session, journal) {
        ReplayOutcome::Differs(difference) => *difference,
        other => panic!("{other:?}"),
    };
    // A turn that the loop would not start.
    let at = place("TurnStarted");
    let mut changed = whole.clone();
    if let Record::TurnStarted(started) = &mut changed[at].record {
        started.turn = started.turn.next();
    }
    let found = differs(&changed);
    let (recorded, decided) = (Some(changed[at].record.clone()), Some(whole[at].record.clone()));
    assert_eq!(found, Difference { batch: at as u64, seq: at as u64 + 1, recorded, decided });
    // A missing record.
    let mut shorter = whole.clone();
    shorter.remove(at);
    let found = differs(&shorter);
    assert_eq!((found.recorded, found.decided), (None, Some(whole[at].record.clone())));
    // A batch without the record of its input.
    let mut headless = whole.clone();
    headless.remove(place("ContextPinned"));
    assert_eq!(differs(&headless).decided, None);
}

#[test]
fn from_a_record_of_a_newer_version_on_nobody_can_tell() {
    // proves J8, J7
    let world = eventful();
    let mut journal = world.envelopes();
    let body = Json::empty_object();
    journal[4].record = Record::Unknown(Unknown { kind: "Dreamt".into(), body });
    assert_eq!(replay(world.state.session, &journal), ReplayOutcome::Unknown { seq: 5, kind: "Dreamt".into() });
}

#[test]
fn a_text_that_is_only_worded_differently_is_no_difference() {
    // proves J8
    let asks = vec![Move::Calls(vec![call("rm", Once).judged(Verdict::Ask)]), Move::Text("well")];
    let mut world = World::new("default", asks);
    world.say("go");
    world.finish();
    let mut journal = world.envelopes();
    let denied = |record: &mut Record, change: fn(&mut windlass_vocab::CallFinished)| {
        if let Record::CallFinished(finished) = record {
            change(finished);
        }
    };
    for envelope in &mut journal {
        denied(&mut envelope.record, |finished| {
            assert_eq!(finished.outcome, OutcomeKind::Denied);
            finished.text = "No.".into();
        });
    }
    let batches = world.journal.len() as u64;
    assert_eq!(replay(world.state.session, &journal), ReplayOutcome::Same { batches });
    for envelope in &mut journal {
        denied(&mut envelope.record, |finished| finished.outcome = OutcomeKind::Cancelled);
    }
    assert!(matches!(replay(world.state.session, &journal), ReplayOutcome::Differs(_)), "another outcome is one");
}

/// A journal of a version that told the model itself which flag would allow a call, and recorded no remedy.
#[test]
fn a_denial_that_an_earlier_version_worded_is_decided_the_same() {
    // proves J7, J8
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/journals/v1/denied.jsonl");
    let text = std::fs::read_to_string(file).expect("a fixture");
    let lines = text.lines().filter(|line| line.contains(r#","body":"#));
    let journal: Vec<_> = lines.map(|line| windlass_vocab::Envelope::decode(line).expect("a record")).collect();
    let is_old = |record: &Record| {
        matches!(record, Record::CallFinished(finished)
            if finished.outcome == OutcomeKind::Denied && finished.remedy.is_none() && finished.text.contains("--allow"))
    };
    assert!(journal.iter().any(|envelope| is_old(&envelope.record)), "it has such a denial");
    let replayed = replay(journal[0].session, &journal);
    assert!(matches!(replayed, ReplayOutcome::Same { .. }), "{replayed:?}");
}
