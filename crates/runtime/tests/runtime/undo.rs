//! Whatever the file tools do, and wherever a crash comes, undo restores bytes, modes and symlinks, and undoing the
//! undo brings everything back.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::undoing::{Ended, Operation, Overwrite, Undoing, tree};
use crate::support::{Bomb, Point, Side};
use proptest::prelude::*;
use windlass_machine::{Force, Obstacle};
use windlass_runtime::{SystemClock, UndoError, UndoFiles, UndoMode, UndoRequest};
use windlass_store::SessionLog as _;
use windlass_vocab::{Message, Record};

const PATHS: [&str; 10] = ["a", "b", "d", "d/a", "d/e/b", "new/deep/x", "new/y", "link", "folderlink/a", "d/../b"];

/// Creates the initial files: files of several modes, symlinks to a file and a folder, a folder within a folder.
fn furnish(root: &Path) {
    std::fs::create_dir_all(root.join("d/e")).unwrap();
    for (path, content, mode) in
        [("a", "one two\n", 0o644), ("b", "two\r\n", 0o600), ("d/a", "", 0o755), ("d/e/b", "one", 0o640)]
    {
        std::fs::write(root.join(path), content).unwrap();
        std::fs::set_permissions(root.join(path), PermissionsExt::from_mode(mode)).unwrap();
    }
    std::fs::set_permissions(root.join("d/e"), PermissionsExt::from_mode(0o750)).unwrap();
    symlink("a", root.join("link")).unwrap();
    symlink("d", root.join("folderlink")).unwrap();
}

fn path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&PATHS[..])
}

fn operation() -> impl Strategy<Value = Operation> {
    let text = prop::sample::select(&["one", "two", "three\n", ""][..]);
    let word = prop::sample::select(&["one", "two", "t"][..]);
    let overwrite = prop_oneof![2 => Just(Overwrite::Yes), 1 => Just(Overwrite::No)];
    prop_oneof![
        3 => (path(), text).prop_map(|(path, text)| Operation::Write(path, text.to_owned())),
        2 => (path(), word.clone(), prop::sample::select(&["ones", "x", ""][..]))
            .prop_map(|(path, old, new)| Operation::Edit(path, old, new)),
        2 => (path(), word).prop_map(|(path, text)| Operation::Append(path, text)),
        2 => path().prop_map(Operation::Delete),
        4 => (path(), path(), overwrite).prop_map(|(from, to, overwrite)| Operation::Move(from, to, overwrite)),
    ]
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Before), Just(Side::After)]
}

fn death() -> impl Strategy<Value = Point> {
    prop_oneof![
        3 => (side(), 1..30u64).prop_map(|(side, n)| Point::Append(side, n)),
        2 => (side(), 1..8u64).prop_map(|(side, n)| Point::Tool(side, n)),
    ]
}

/// Generates where an undo dies: around one of its two writes or the taking of the lease, or between two files.
fn undo_death() -> impl Strategy<Value = Option<Point>> {
    prop_oneof![
        2 => Just(None),
        2 => (side(), 1..4u64).prop_map(|(side, n)| Some(Point::Append(side, n))),
        3 => (1..5u64).prop_map(|n| Some(Point::Restore(n))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    // proves T9, J3, J4
    #[test]
    fn whatever_was_done_and_wherever_it_crashed_undo_restores_everything_and_undo_of_undo_brings_it_back(
        operations in prop::collection::vec(operation(), 1..8),
        deaths in prop::collection::vec(death(), 0..3),
        undo_deaths in prop::collection::vec(undo_death(), 8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = Undoing::new(&operations);
            furnish(world.root());
            let before = tree(world.root());
            world.run_dying(&deaths).await;
            let after = tree(world.root());
            world.undo_all(|number| undo_deaths.get(number).copied().flatten()).await;
            assert_eq!(tree(world.root()), before, "{:#?}", world.records());
            world.redo_all().await;
            assert_eq!(tree(world.root()), after, "{:#?}", world.records());
        });
    }
}

async fn worked(operations: &[Operation]) -> Undoing {
    let world = Undoing::new(operations);
    furnish(world.root());
    world.run_dying(&[]).await;
    world
}

// proves T9: through a folder that does not exist yet and back, to a symlink
#[tokio::test]
async fn a_write_by_a_way_that_has_yet_to_be_made_is_undone_where_it_went() {
    let operations = [
        Operation::Move("d", "new/deep/x", Overwrite::Yes),
        Operation::Move("link", "b", Overwrite::Yes),
        Operation::Write("d/../b", "one".to_owned()),
    ];
    let world = Undoing::new(&operations);
    furnish(world.root());
    let before = tree(world.root());
    world.run_dying(&[]).await;
    assert_eq!(std::fs::read_link(world.root().join("b")).unwrap(), Path::new("a"), "the link is followed");
    assert_eq!(std::fs::read_to_string(world.root().join("a")).unwrap(), "one");
    let after = tree(world.root());
    world.undo_all(|_| None).await;
    assert_eq!(tree(world.root()), before);
    world.redo_all().await;
    assert_eq!(tree(world.root()), after);
}

// proves T9
#[tokio::test]
async fn a_file_and_a_link_that_were_deleted_and_lines_that_were_added_are_undone() {
    let operations = [
        Operation::Append("a", "more"),
        Operation::Delete("a"),
        Operation::Delete("link"),
        Operation::Append("new/deep/x", "x"),
    ];
    let world = Undoing::new(&operations);
    furnish(world.root());
    let before = tree(world.root());
    world.run_dying(&[]).await;
    let after = tree(world.root());
    assert!(!after.contains_key("a") && !after.contains_key("link") && after.contains_key("new/deep/x"));
    assert_eq!(world.undo_all(|_| None).await, operations.len());
    assert_eq!(tree(world.root()), before);
    world.redo_all().await;
    assert_eq!(tree(world.root()), after);
}

fn edit() -> Operation {
    Operation::Edit("a", "one", "1")
}

// proves T9: conflicts are refused with a diff, and nothing at all is restored
#[tokio::test]
async fn a_file_changed_since_keeps_everything_from_being_put_back() {
    let world = worked(&[Operation::Move("a", "d/a", Overwrite::Yes)]).await;
    std::fs::write(world.root().join("d/a"), "mine\n").unwrap();
    let before = tree(world.root());
    let files = files(&world);
    let session = world.store.find("me", "k").await.unwrap().unwrap();
    let undo = |request| windlass_runtime::undo(&files, session, request, &SystemClock);
    let Err(UndoError::Conflicts(conflicts)) = undo(UndoRequest::default()).await else { panic!("no conflict") };
    assert_eq!(tree(world.root()), before, "nothing was touched");
    let [shown] = &conflicts[..] else { panic!("{conflicts:?}") };
    assert_eq!((shown.conflict.path.as_str(), shown.conflict.obstacle), ("d/a", Obstacle::ChangedSince));
    assert!(shown.diff.contains("-mine"), "{}", shown.diff);
    assert!(world.undos().is_empty());
    let forced = UndoRequest { force: Force::Yes, ..UndoRequest::default() };
    let rehearsed = undo(UndoRequest { mode: UndoMode::DryRun, ..forced }).await.unwrap();
    assert_eq!((tree(world.root()) == before, rehearsed.undo, rehearsed.restored.len()), (true, None, 2));
    undo(forced).await.unwrap();
    world.redo_all().await;
    assert_eq!(tree(world.root()), before, "what was there is brought back as well");
}

fn files(world: &Undoing) -> UndoFiles {
    UndoFiles {
        store: std::sync::Arc::clone(&world.store) as _,
        workspace: std::sync::Arc::new(windlass_tools::Workspace::open(world.root()).unwrap()),
        secrets: std::sync::Arc::default(),
        rules: windlass_tools::FileRules::default(),
    }
}

// proves T9: a conflict names the call that caused it
#[tokio::test]
async fn an_earlier_call_is_not_undone_over_a_later_one() {
    let world = worked(&[edit(), Operation::Edit("a", "1", "uno")]).await;
    let files = files(&world);
    let session = world.store.find("me", "k").await.unwrap().unwrap();
    let of = Some("1.1.0".parse().unwrap());
    let refused = windlass_runtime::undo(&files, session, UndoRequest { of, ..UndoRequest::default() }, &SystemClock);
    let Err(UndoError::Conflicts(conflicts)) = refused.await else { panic!("no conflict") };
    assert_eq!(conflicts[0].since, Some("1.2.0".parse().unwrap()));
}

// proves T9: a file changed by somebody else while an undo is unfinished is reported, not overwritten
#[tokio::test]
async fn a_file_changed_while_an_undo_was_cut_short_is_left_alone() {
    let world = worked(&[Operation::Move("a", "z", Overwrite::No)]).await;
    let died = world.undo(&Bomb::at(Some(Point::Restore(1))), None).await;
    assert!(matches!(died, Ended::Crashed) && world.undos().is_empty());
    std::fs::write(world.root().join("z"), "somebody else's\n").unwrap();
    world.run_dying(&[]).await;
    let undone = world.records().into_iter().find_map(|record| match record {
        Record::Undone(undone) => Some(undone),
        _ => None,
    });
    let undone = undone.expect("it is finished when the session is opened");
    assert_eq!(undone.left_alone.keys().collect::<Vec<_>>(), ["z"]);
    assert_eq!(std::fs::read_to_string(world.root().join("z")).unwrap(), "somebody else's\n");
    assert_eq!(std::fs::read_to_string(world.root().join("a")).unwrap(), "one two\n");
}

// proves T9: paths the agent did not change are never touched, and folders are removed only when empty
#[tokio::test]
async fn what_somebody_put_into_a_new_folder_stays_there() {
    let world = worked(&[Operation::Write("new/deep/x", "x".into())]).await;
    std::fs::write(world.root().join("new/theirs"), "theirs").unwrap();
    let Ended::With(Some(report)) = world.undo(&Bomb::at(None), None).await else { panic!("crashed") };
    assert_eq!(report.left_alone.keys().collect::<Vec<_>>(), ["new"]);
    assert_eq!(std::fs::read_to_string(world.root().join("new/theirs")).unwrap(), "theirs");
    assert!(!world.root().join("new/deep").exists());
}

// proves T9: the model is told
#[tokio::test]
async fn the_model_is_told_that_its_change_was_undone() {
    let world = worked(&[edit()]).await;
    assert_eq!(world.undo_all(|_| None).await, 1);
    let session = world.store.find("me", "k").await.unwrap().unwrap();
    let state = windlass_machine::State::fold(session, &world.records());
    let Some(Message::User { text, .. }) = state.transcript.history.last() else {
        panic!("{:?}", state.transcript.history)
    };
    assert!(text.contains("undid what call 1.1.0 (edit_file) did"), "{text}");
}

// proves T9: a fork shares contents and leaves files alone
#[tokio::test]
async fn a_call_can_be_undone_in_a_fork_and_is_then_as_it_was_in_the_origin() {
    let world = worked(&[edit()]).await;
    let files = files(&world);
    let origin = world.store.find("me", "k").await.unwrap().unwrap();
    let fork =
        windlass_runtime::fork(files.store.as_ref(), origin, None, "fork", windlass_vocab::Timestamp(1)).await.unwrap();
    let undone = windlass_runtime::undo(&files, fork, UndoRequest::default(), &SystemClock).await.unwrap();
    assert_eq!(undone.restored.len(), 1);
    let again = windlass_runtime::undo(&files, origin, UndoRequest::default(), &SystemClock).await.unwrap();
    assert_eq!(again.restored.len(), 0, "the files are as they were already");
    assert_eq!(std::fs::read_to_string(world.root().join("a")).unwrap(), "one two\n");
}
