//! Imported sessions, and calls whose permission is checked again before they run.

use crate::support::{KEEPS, Move, World, call};
use windlass_machine::{CallApproval, CheckedUndo, Effect, Fact, Ledger, ReplayOutcome, replay};
use windlass_vocab::EffectClass::{self, Idempotent, Once, ReadOnly};
use windlass_vocab::{
    Answer, AnsweredBy, Change, Changes, EndReason, FileState, ImportDetails, OutcomeKind, Preview, QuestionKind,
    QuestionOption, Record, Remedy, SessionChanged, Undoable, Verdict,
};

fn step(world: &mut World) {
    let effect = world.owed().remove(0);
    let fact = world.perform(&effect);
    world.put(fact);
}

/// Returns a world in which the model has just requested this call.
fn called(effect: EffectClass, verdict: Verdict) -> World {
    let moves = vec![Move::Calls(vec![call("act", effect).judged(verdict)]), Move::Text("done")];
    let mut world = World::new("default", moves).attended();
    world.say("go");
    step(&mut world);
    step(&mut world);
    world
}

fn import(world: &mut World) -> Vec<Record> {
    let imported = Some(ImportDetails { workspace: Some("/here".into()), owner: None });
    world.put(Fact::Changed(SessionChanged { imported, ..SessionChanged::default() }))
}

fn answer(world: &mut World, option: QuestionOption) {
    let [Effect::Ask(asked)] = &world.owed()[..] else { panic!("nobody is asked: {:?}", world.owed()) };
    let (question, answer) = (asked.question, Answer::plain(option));
    world.put(Fact::Answered { question, answer, by: AnsweredBy::Person });
}

fn is_same(world: &World) {
    let replayed = replay(world.state.session, &world.envelopes());
    assert!(matches!(replayed, ReplayOutcome::Same { .. }), "{replayed:?}");
}

// proves X6, J8: whatever a run was doing when its journal was written, none of it continues here
#[test]
fn nothing_is_owed_in_a_session_that_was_imported() {
    for effect in [ReadOnly, Idempotent, Once] {
        for verdict in [Verdict::Allow, Verdict::Ask] {
            let whole = called(effect, verdict.clone()).journal.len();
            for batches in 1..=whole {
                let mut world = called(effect, verdict.clone());
                world.cut_after(batches);
                import(&mut world);
                assert_eq!(world.owed(), vec![], "{effect:?} after {batches}");
                assert_eq!(world.state.control.run, None);
                world.crash();
                assert_eq!(world.owed(), vec![], "nor after it is opened");
                is_same(&world);
            }
        }
    }
}

// proves X6
#[test]
fn the_calls_of_an_imported_run_are_interrupted() {
    let mut world = called(Once, Verdict::Allow);
    let records = import(&mut world);
    assert!(matches!(records.first(), Some(Record::SessionChanged(_))), "{records:?}");
    let (_, ended) = world.state.control.last.clone().expect("the run is over");
    assert_eq!(ended.reason, EndReason::Cancelled);
    let [(outcome, text)] = &world.results()[..] else { panic!("{:?}", world.results()) };
    assert!(*outcome == OutcomeKind::Interrupted && text.contains("imported"), "{text}");
}

// proves X6: grants recorded before and after an import record that the file itself contains
#[test]
fn what_was_granted_elsewhere_is_not_granted_here() {
    let mut world = called(Once, Verdict::Ask);
    let Record::QuestionAsked(mut asked) = world.journal.last().and_then(|batch| batch.last()).cloned().expect("one")
    else {
        panic!("nobody is asked")
    };
    asked.preview = Some(Preview { title: "x".into(), body: String::new(), rule: Some("run_command(*)".into()) });
    import(&mut world);
    world.say("go on");
    let run = world.state.control.run.as_ref().map(|run| run.id).expect("a run");
    assert_eq!(world.state.transcript.grants, vec![]);
    // A file may contain anything, even an approval after its import.
    let forged = windlass_vocab::QuestionAnswered {
        question: asked.question,
        answer: Answer::plain(QuestionOption::Session),
        by: AnsweredBy::Person,
        grant: Some(windlass_vocab::Grant { rule: "run_command(*)".into() }),
    };
    windlass_machine::apply(&mut world.state, &forged.into());
    assert_eq!(world.state.transcript.grants.len(), 1, "{run}");
    import(&mut world);
    assert_eq!(world.state.transcript.grants, vec![]);
}

// proves X6, T9: files named in an imported journal are not restored here
#[test]
fn nothing_of_an_imported_session_is_undone() {
    let mut world = World::new("default", vec![Move::Calls(vec![call(KEEPS, Once)]), Move::Text("done")]);
    world.say("go");
    world.finish();
    let ledger = |world: &World| Ledger::fold(world.journal.iter().flatten());
    let file_effect = ledger(&world).last().cloned().expect("it changed something");
    let forged = Changes::from([(
        ".git/hooks/post-commit".to_owned(),
        Change { was: FileState::Absent, now: FileState::Folder { mode: 0o755, inode: None } },
    )]);
    let asked = CheckedUndo { of: file_effect.of, tool: None, changes: forged, unable: Default::default() };
    world.put(Fact::Undo(Box::new(asked)));
    assert!(matches!(world.owed()[..], [Effect::Restore(_)]), "{:?}", world.owed());
    import(&mut world);
    assert_eq!(world.owed(), vec![], "an undo that was under way leaves the files alone");
    assert!(ledger(&world).last().is_none());
    assert!(ledger(&world).find(Undoable::Undo(windlass_vocab::UndoId(1))).is_none());
    is_same(&world);
}

/// Returns the preview of a call that needs approval after all.
fn shown() -> Option<Preview> {
    Some(Preview { title: "act".into(), body: String::new(), rule: Some("act".into()) })
}

// proves X6, T8: a call that was allowed when recorded needs approval if the current rules say so
#[test]
fn a_call_that_the_rules_of_today_ask_about_is_asked_about_before_it_runs() {
    for effect in [ReadOnly, Idempotent, Once] {
        for (option, runs) in [(QuestionOption::Once, true), (QuestionOption::No, false)] {
            let mut world = called(effect, Verdict::Allow);
            let [Effect::RunCall { request, approved, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
            assert_eq!(*approved, CallApproval::No);
            let call = request.call;
            world.put(Fact::CallNeedsApproval { call, preview: shown(), because: None });
            let asks =
                |effect: &Effect| matches!(effect, Effect::Ask(asked) if asked.kind == QuestionKind::Approval { call });
            assert!(world.owed().iter().all(asks), "{:?}", world.owed());
            answer(&mut world, option);
            if runs {
                let [Effect::RunCall { approved, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
                assert_eq!(*approved, CallApproval::Yes, "it is not asked about again");
            } else {
                assert_eq!(world.results()[0].0, OutcomeKind::Denied);
            }
            is_same(&world);
        }
    }
}

// proves X6: nobody is asked where nobody is available
#[test]
fn a_call_that_nobody_can_be_asked_about_is_denied_with_the_rule() {
    let moves = vec![Move::Calls(vec![call("act", Once)]), Move::Text("done")];
    let mut world = World::new("default", moves);
    world.say("go");
    step(&mut world);
    step(&mut world);
    let [Effect::RunCall { request, .. }] = &world.owed()[..] else { panic!("{:?}", world.owed()) };
    let call = request.call;
    world.put(Fact::CallNeedsApproval { call, preview: shown(), because: None });
    let (outcome, text) = world.results()[0].clone();
    assert!(outcome == OutcomeKind::Denied && !text.contains("act"), "{text}");
    assert_eq!(world.last_remedy(), Some(Remedy::Allow { rule: "act".into() }));
    world.finish();
    is_same(&world);
}
