//! Titles, pins and the archive: a session is changed as a whole, whoever drives it. Two hubs over one store stand for two
//! processes.

use crate::support::{Bomb, World};
use uuid::Uuid;
use windlass_machine::preset;
use windlass_runtime::{ControlDelivery, OpenError, SessionActivity};
use windlass_store::{Ownership as _, SessionLog as _, SessionRow, StoreError};
use windlass_testkit::{BodyPoint, FaultKind, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{Attendance, ControlOutcome, Policy, Record, SessionEdit, SessionId, StreamIdle};

const DONE: ControlDelivery = ControlDelivery::Done(ControlOutcome::Edited {});

fn world(steps: impl IntoIterator<Item = ScriptStep>) -> World {
    let stream_idle = StreamIdle { first_ms: 3_600_000, next_ms: 3_600_000 };
    let policy = Policy { stream_idle, ..preset("default").expect("a preset") };
    World::new(policy, ScriptedModel::new(Script::of(steps)), Attendance::Attended)
}

fn stalls() -> ScriptStep {
    ScriptStep::say("Words that go on and on").fault(FaultKind::Idle { after: BodyPoint::Events(2) }.times(u32::MAX))
}

fn count(world: &World, kind: &str) -> usize {
    world.records().iter().filter(|record| record.kind() == kind).count()
}

async fn row(world: &World, session: SessionId) -> SessionRow {
    world.store.row(session).await.expect("read").expect("a session")
}

// proves J1: the marks of a live session are records, also while a run works
#[tokio::test]
async fn a_session_is_pinned_and_archived_while_a_run_works() {
    let world = world([stalls()]);
    let hub = world.hub(&Bomb::at(None));
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    session.edit(SessionEdit::Pin).await.expect("pinned");
    assert_eq!(hub.edit(session.id(), SessionEdit::Archive).await.expect("archived"), DONE);
    let marked = row(&world, session.id()).await;
    assert!(marked.pinned && marked.archived.is_some());
    assert_eq!(session.activity(), SessionActivity::Working);
    // What is so already is not recorded again.
    let before = world.records().len();
    for edit in [SessionEdit::Pin, SessionEdit::Archive] {
        assert_eq!(hub.edit(session.id(), edit).await.expect("edited"), DONE);
    }
    assert_eq!(world.records().len(), before);
}

// proves J5: the owner writes the record, and keeps the session
#[tokio::test]
async fn a_session_that_another_process_drives_is_changed_by_its_owner() {
    let world = world([stalls()]);
    let (there, here) = (world.hub(&Bomb::at(None)), world.hub(&Bomb::at(None)));
    let session = there.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    for edit in [SessionEdit::Pin, SessionEdit::Title("A walk".into()), SessionEdit::Unpin] {
        assert_eq!(here.edit(session.id(), edit).await.expect("edited"), DONE);
    }
    let changed = row(&world, session.id()).await;
    assert_eq!((changed.title.as_deref(), changed.pinned), (Some("A walk"), false));
    assert_eq!((count(&world, "SessionChanged"), count(&world, "LeaseTaken")), (3, 1));
    assert_eq!(session.activity(), SessionActivity::Working);
}

// proves J3, J5: nothing of a session that nobody drives is resumed for it, and it is released afterwards
#[tokio::test]
async fn a_session_that_nobody_drives_is_changed_in_its_journal_alone() {
    let world = world([stalls()]);
    let hub = world.hub(&Bomb::at(None));
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    let id = session.id();
    session.close().await;
    let (before, asked) = (world.records().len(), world.model.heard_requests().len());
    assert_eq!(hub.edit(id, SessionEdit::Archive).await.expect("archived"), DONE);
    let added: Vec<String> = world.records()[before..].iter().map(|record| record.kind().to_owned()).collect();
    assert_eq!(added, ["LeaseTaken", "SessionChanged"]);
    assert!(!world.store.is_claimed(id).await.expect("asked"));
    let archived = row(&world, id).await;
    assert!(archived.archived.is_some() && archived.status.is_open(), "{archived:?}");
    assert_eq!(world.model.heard_requests().len(), asked);
    // The run goes on where it was, and the next message takes the session out of the archive.
    let session = hub.open(World::opening(), world.agent()).await.expect("opened again");
    session.send("m2".into(), "and more").await.expect("sent");
    session.stop(windlass_vocab::StopBy::Person).await.expect("stopped");
    session.send("m3".into(), "again").await.expect("sent");
    assert!(world.records().iter().any(|record| matches!(record, Record::RunResumed(_))));
    assert_eq!(row(&world, id).await.archived, None);
}

// proves J9
#[tokio::test]
async fn a_session_that_is_not_there_is_not_made_by_an_edit() {
    let world = world([]);
    let missing = SessionId(Uuid::from_u128(7));
    let edited = world.hub(&Bomb::at(None)).edit(missing, SessionEdit::Pin).await;
    assert!(matches!(edited, Err(OpenError::Store(StoreError::Missing))), "{edited:?}");
    assert_eq!(world.store.row(missing).await.expect("read"), None);
}
