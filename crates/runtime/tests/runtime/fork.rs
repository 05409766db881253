//! Forks while a run of the origin is open.

use crate::support::{Bomb, World};
use windlass_machine::{ReplayOutcome, State, preset, replay};
use windlass_runtime::{SessionActivity, fork};
use windlass_store::{ForkError, SessionLog as _, StoreError, verify};
use windlass_testkit::{FaultKind, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{Attendance, EndReason, MessageId, Record, Timestamp};

#[tokio::test]
async fn a_live_session_is_forked_without_its_lease_and_goes_on() {
    // proves J8, J5
    let never = ScriptStep::say("too late").fault(FaultKind::Delay { ms: 3_600_000 }.times(u32::MAX));
    let policy = preset("default").expect("a preset");
    let world = World::new(policy, ScriptedModel::new(Script::of([never])), Attendance::Unattended);
    let session = world.open(&Bomb::at(None)).await.expect("opened");
    session.send(MessageId("m".into()), "go").await.expect("sent");
    let store = world.store.as_ref();
    let forked = fork(store, session.id(), None, "fork", Timestamp(9)).await.expect("forked");
    assert_eq!(session.activity(), SessionActivity::Working);
    let journal = store.read(forked, 0).await.expect("read");
    let state = State::fold(forked, journal.iter().map(|envelope| &envelope.record));
    assert_eq!(state.control.last.map(|(_, ended)| ended.reason), Some(EndReason::Cancelled));
    let last = journal.last().expect("a record");
    assert!(matches!(last.record, Record::RunEnded(_)) && last.run.is_some() && last.at == Timestamp(9), "{last:?}");
    assert!(matches!(replay(forked, &journal), ReplayOutcome::Same { .. }));
    verify(store, forked).await.expect("whole");
    let taken = fork(store, session.id(), None, "fork", Timestamp(9)).await;
    assert_eq!(taken, Err(ForkError::Store(StoreError::KeyTaken { key: "fork".into() })));
    session.close().await;
}
