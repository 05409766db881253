//! Snapshots of files before a call, and undo after it.

use std::collections::BTreeMap;

use crate::support::{KEEPS, Move, World, call};
use windlass_machine::{CheckedUndo, Effect, Fact, Force, KnownChanges, Ledger, Obstacle, ReplayOutcome, replay};
use windlass_vocab::EffectClass::{self, Once};
use windlass_vocab::{
    CallId, Change, Changes, FileState, MessageId, OutcomeKind, Record, RunId, StopBy, TurnId, UndoId, Undoable,
};

fn keeping(effect: EffectClass) -> World {
    let mut world = World::new("default", vec![Move::Calls(vec![call(KEEPS, effect)]), Move::Text("done")]);
    world.say("go");
    for _ in 0..2 {
        step(&mut world);
    }
    world
}

fn step(world: &mut World) {
    let effect = world.owed().remove(0);
    let fact = world.perform(&effect);
    world.put(fact);
}

fn ledger(world: &World) -> Ledger {
    Ledger::fold(world.journal.iter().flatten())
}

fn first_call() -> CallId {
    CallId { run: RunId(1), turn: TurnId(1), index: 0 }
}

/// Undoes this file effect as a driver would; every file is in the state that the journal says.
fn undo(world: &mut World, of: Undoable) {
    let ledger = ledger(world);
    let file_effect = ledger.find(of).expect("a deed").clone();
    let KnownChanges::Changes(changes) = &file_effect.known else { panic!("{file_effect:?}") };
    let now = changes.iter().map(|(path, change)| (path.clone(), change.now.clone())).collect();
    let plan = file_effect.plan(&now, Force::No);
    assert_eq!(plan.conflicts, []);
    let asked = CheckedUndo { of, tool: file_effect.tool, changes: plan.changes, unable: plan.unable };
    world.put(Fact::Undo(Box::new(asked)));
    step(world);
}

// proves T9: the state before is stored before anything is changed
#[test]
fn a_call_is_owed_only_when_its_files_are_kept() {
    let mut world = keeping(Once);
    assert!(matches!(world.owed()[..], [Effect::TakeSnapshot { .. }]), "{:?}", world.owed());
    step(&mut world);
    assert!(matches!(world.owed()[..], [Effect::RunCall { .. }]), "{:?}", world.owed());
    step(&mut world);
    assert!(world.kinds().ends_with(&["CallFinished".into(), "FilesChanged".into(), "TurnStarted".into()]));
}

// proves T9, J4
#[test]
fn a_call_without_its_snapshot_has_not_run_and_one_with_it_is_settled_by_its_class() {
    let mut world = keeping(Once);
    world.crash();
    assert!(matches!(world.owed()[..], [Effect::TakeSnapshot { .. }]), "nothing is asked: {:?}", world.owed());
    step(&mut world);
    world.crash();
    assert!(!world.owed().iter().any(|effect| matches!(effect, Effect::TakeSnapshot { .. } | Effect::RunCall { .. })));
    world.finish();
    assert_eq!(world.results()[0].0, OutcomeKind::Interrupted);
    let mut world = keeping(EffectClass::Idempotent);
    step(&mut world);
    world.crash();
    assert!(matches!(world.owed()[..], [Effect::RunCall { .. }]), "its first snapshot stands: {:?}", world.owed());
}

// proves T9, J8
#[test]
fn an_undo_is_told_to_the_model_and_decided_the_same_again() {
    let mut world = keeping(Once);
    world.finish();
    undo(&mut world, Undoable::Call(first_call()));
    let last = world.state.transcript.history.last().cloned();
    let Some(windlass_vocab::Message::User { text, .. }) = last else { panic!("{last:?}") };
    assert!(text.contains("undid what call 1.1.0 (t1) did to files") && text.contains("again: f."), "{text}");
    assert_eq!(world.owed(), []);
    let envelopes = world.envelopes();
    assert!(matches!(replay(world.state.session, &envelopes), ReplayOutcome::Same { .. }));
    world.say("and now?");
    world.finish();
}

// proves T9: crash-safe; an undo that was started is outstanding until it is done
#[test]
fn nothing_is_taken_up_while_files_are_put_back() {
    let mut world = keeping(Once);
    let asked =
        CheckedUndo { of: Undoable::Call(first_call()), tool: None, changes: Changes::new(), unable: BTreeMap::new() };
    assert_eq!(world.put(Fact::Undo(Box::new(asked.clone()))), []);
    world.finish();
    world.put(Fact::Undo(Box::new(asked.clone())));
    assert_eq!(world.put(Fact::Undo(Box::new(asked))), []);
    let message = Fact::Message {
        message_id: MessageId("x".into()),
        text: "hi".into(),
        attachments: Vec::new(),
        run_settings: Box::new(world.run_settings.clone()),
    };
    assert_eq!(world.put(message), []);
    world.crash();
    assert!(matches!(world.owed()[..], [Effect::Restore(_)]));
    assert!(!windlass_machine::outstanding(&world.state).contains(&Effect::Receive));
    let fork = world.forked_after(world.journal.len());
    assert_eq!(fork.owed(), [], "the fork leaves files alone");
    step(&mut world);
    assert_eq!(world.owed(), []);
}

// proves T9: undo of undo, and an undo without an argument continues with the previous call
#[test]
fn an_undo_can_be_undone_and_a_bare_one_goes_on_to_the_call_before() {
    let calls = vec![call(KEEPS, Once).with("{\"n\":1}"), call(KEEPS, Once).with("{\"n\":2}")];
    let mut world = World::new("durable-chat", vec![Move::Calls(calls), Move::Text("done")]);
    world.say("go");
    world.finish();
    let (first, second) = (Undoable::Call(first_call()), Undoable::Call(CallId { index: 1, ..first_call() }));
    let last = |world: &World| ledger(world).last().map(|file_effect| file_effect.of);
    let taken_back = |world: &World, of| ledger(world).find(of).unwrap().taken_back;
    assert_eq!(last(&world), Some(second));
    undo(&mut world, second);
    assert_eq!((last(&world), taken_back(&world, second)), (Some(first), Some(UndoId(1))));
    undo(&mut world, Undoable::Undo(UndoId(1)));
    assert_eq!((last(&world), taken_back(&world, second)), (Some(second), None));
    undo(&mut world, Undoable::Undo(UndoId(2)));
    assert_eq!((last(&world), taken_back(&world, second)), (Some(first), Some(UndoId(1))));
    undo(&mut world, first);
    assert_eq!(last(&world), None);
}

// proves T9
#[test]
fn what_a_stopped_call_left_is_known_once_it_has_ended_and_not_before() {
    let mut world = keeping(Once);
    step(&mut world);
    world.put(Fact::Stopped(StopBy::Person));
    let of = Undoable::Call(first_call());
    assert!(matches!(ledger(&world).find(of).unwrap().known, KnownChanges::BeforeOnly(_)));
    let changes = Changes::from([("f".into(), Change { was: FileState::Absent, now: link("x") })]);
    let changed = windlass_vocab::FilesChanged { call: first_call(), changes: changes.clone(), ..<_>::default() };
    world.put(Fact::FilesChanged(changed));
    assert_eq!(ledger(&world).find(of).unwrap().known, KnownChanges::Changes(changes));
    assert!(matches!(world.journal.last().unwrap()[..], [Record::FilesChanged(_)]));
}

fn link(target: &str) -> FileState {
    FileState::Link { target: target.into(), inode: None }
}

// proves T9: undo never changes a path that the agent did not change, nor one that somebody changed since
#[test]
fn what_is_not_as_the_call_left_it_stands_in_the_way() {
    let mut world = keeping(Once);
    world.finish();
    let transcript = ledger(&world);
    let file_effect = transcript.last().unwrap();
    let now = |state: FileState| BTreeMap::from([("f".to_owned(), state), ("other".to_owned(), link("y"))]);
    let left = link("1.1.0");
    let plan = file_effect.plan(&now(left.clone()), Force::No);
    assert_eq!(plan.changes, Changes::from([("f".into(), Change { was: left, now: FileState::Absent })]));
    let plan = file_effect.plan(&now(link("z")), Force::No);
    assert_eq!(plan.conflicts.iter().map(|conflict| conflict.obstacle).collect::<Vec<_>>(), [Obstacle::ChangedSince]);
    assert!(plan.changes.is_empty());
    assert_eq!(file_effect.plan(&now(link("z")), Force::Yes).changes.len(), 1);
    assert_eq!(file_effect.plan(&now(FileState::Absent), Force::No), Default::default(), "it is as it was already");
}

// proves T9: a moved folder is moved back, with its present content
#[test]
fn a_moved_folder_is_put_back_only_from_where_it_was_moved_to() {
    let folder = |inode| FileState::Folder { mode: 0o755, inode: Some(inode) };
    let changes = Changes::from([
        ("a".into(), Change { was: folder(7), now: FileState::Absent }),
        ("b".into(), Change { was: FileState::Absent, now: folder(7) }),
    ]);
    let mut world = keeping(Once);
    world.finish();
    let transcript = ledger(&world);
    let file_effect =
        windlass_machine::FileEffect { known: KnownChanges::Changes(changes), ..transcript.last().unwrap().clone() };
    let now = |a, b| BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
    let plan = file_effect.plan(&now(FileState::Absent, folder(7)), Force::No);
    assert_eq!((plan.changes.len(), plan.conflicts.len(), plan.unable.len()), (2, 0, 0));
    let plan = file_effect.plan(&now(FileState::Absent, folder(8)), Force::No);
    assert_eq!((plan.changes.len(), plan.conflicts.len(), plan.unable.len()), (0, 1, 1), "another folder is there");
    let plan = file_effect.plan(&now(folder(9), folder(7)), Force::No);
    assert_eq!((plan.changes.len(), plan.conflicts.len()), (1, 1), "its old place is taken");
}

// proves T9
#[test]
fn what_is_not_kept_is_neither_taken_away_nor_claimed_to_be_put_back() {
    let large = |inode| FileState::Unkept { size: 9, modified: 1, inode };
    let mut world = keeping(Once);
    world.finish();
    let transcript = ledger(&world);
    let file_effect = |was, now| windlass_machine::FileEffect {
        known: KnownChanges::Changes(Changes::from([("f".into(), Change { was, now })])),
        ..transcript.last().unwrap().clone()
    };
    let now = |state| BTreeMap::from([("f".to_owned(), state)]);
    let plan = file_effect(FileState::Absent, large(1)).plan(&now(large(1)), Force::No);
    assert_eq!(plan.conflicts[0].obstacle, Obstacle::WouldBeLost);
    let plan = file_effect(large(1), FileState::Absent).plan(&now(FileState::Absent), Force::Yes);
    assert_eq!((plan.changes.len(), plan.unable.len()), (0, 1));
}

// proves T9: a large file that was moved onto another file, or to the place of a folder, is not lost
#[test]
fn what_is_not_kept_is_moved_back_from_what_it_replaced() {
    let large = FileState::Unkept { size: 9, modified: 1, inode: 5 };
    for replaced in [link("x"), FileState::Folder { mode: 0o755, inode: None }] {
        let changes = Changes::from([
            ("a".into(), Change { was: large.clone(), now: FileState::Absent }),
            ("b".into(), Change { was: replaced, now: large.clone() }),
        ]);
        let mut world = keeping(Once);
        world.finish();
        let file_effect = windlass_machine::FileEffect {
            known: KnownChanges::Changes(changes),
            ..ledger(&world).last().unwrap().clone()
        };
        let plan = file_effect.plan(&BTreeMap::from([("b".to_owned(), large.clone())]), Force::No);
        assert_eq!((plan.changes.len(), plan.conflicts.len(), plan.unable.len()), (2, 0, 0), "{plan:?}");
    }
}

// proves T9: a folder that a call replaced by a symlink can be restored, because the symlink is removed
#[test]
fn a_folder_that_a_call_made_a_link_of_is_put_back_with_what_was_in_it() {
    let folder = FileState::Folder { mode: 0o755, inode: None };
    let changes = Changes::from([
        ("d".into(), Change { was: folder, now: link("e") }),
        ("d/a".into(), Change { was: link("x"), now: FileState::OUT_OF_REACH }),
    ]);
    let mut world = keeping(Once);
    world.finish();
    let file_effect = windlass_machine::FileEffect {
        known: KnownChanges::Changes(changes),
        ..ledger(&world).last().unwrap().clone()
    };
    let now = |d| BTreeMap::from([("d".to_owned(), d), ("d/a".to_owned(), FileState::OUT_OF_REACH)]);
    let plan = file_effect.plan(&now(link("e")), Force::No);
    assert_eq!((plan.changes.len(), plan.conflicts.len(), plan.unable.len()), (2, 0, 0), "{plan:?}");
    assert_eq!(plan.changes["d/a"], Change { was: FileState::Absent, now: link("x") });
    let plan = file_effect.plan(&now(link("theirs")), Force::No);
    assert_eq!(plan.conflicts[1].obstacle, Obstacle::Blocked, "another link is somebody else's");
}

// proves T9: a file that was too large for the snapshot may be small enough for the undo
#[test]
fn what_can_be_kept_by_now_is_no_obstacle_and_what_moves_needs_no_keeping() {
    let large = |inode| FileState::Unkept { size: 9, modified: 1, inode };
    let kept = |inode| FileState::File { blob: windlass_vocab::Hash([1; 32]), mode: 0o644, inode: Some(inode) };
    let changes = Changes::from([
        ("a".into(), Change { was: large(5), now: FileState::Absent }),
        ("b".into(), Change { was: FileState::Absent, now: large(5) }),
        ("made".into(), Change { was: FileState::Absent, now: large(6) }),
    ]);
    let mut world = keeping(Once);
    world.finish();
    let file_effect = windlass_machine::FileEffect {
        known: KnownChanges::Changes(changes),
        ..ledger(&world).last().unwrap().clone()
    };
    let now = BTreeMap::from([("b".to_owned(), large(5)), ("made".to_owned(), large(6))]);
    let could = BTreeMap::from([("b".to_owned(), kept(5)), ("made".to_owned(), kept(6))]);
    for force in [Force::No, Force::Yes] {
        let plan = file_effect.plan(&now, force).keeping(&could);
        assert_eq!((plan.conflicts.len(), plan.changes["b"].was.clone()), (0, large(5)));
        assert_eq!(plan.changes["made"], Change { was: kept(6), now: FileState::Absent });
    }
    assert_eq!(
        file_effect.plan(&now, Force::No).keeping(&BTreeMap::new()).conflicts[0].obstacle,
        Obstacle::WouldBeLost
    );
}
