//! Plans whose child sessions another process holds. Two hubs over one store stand for two processes.

use std::time::Duration;

use windlass_machine::preset;
use windlass_runtime::{SessionChoice, Subscription};
use windlass_testkit::{Script, ScriptStep, ScriptedModel};
use windlass_vocab::{
    Attendance, CallId, EndReason, Event, Planning, Policy, Record, RunId, StopBy, TurnId, child_key,
};

use crate::support::{Bomb, World};

/// How long a test waits for what must come at once.
const LIMIT: Duration = Duration::from_secs(30);

/// Waits for the first record that `wanted` takes.
async fn next<T>(events: &mut Subscription, wanted: impl Fn(&Record) -> Option<T>) -> T {
    let found = async {
        loop {
            let event = events.next().await.expect("the session is open");
            if let Event::Record(envelope) = &event
                && let Some(found) = wanted(&envelope.record)
            {
                return found;
            }
        }
    };
    tokio::time::timeout(LIMIT, found).await.expect("it comes at once")
}

// proves L8, S3: a stop is not kept waiting by another process
#[tokio::test]
async fn a_stop_does_not_wait_for_a_child_that_another_process_holds() {
    let policy = Policy { planning: Planning::Always, ..preset("default").expect("a preset") };
    let model = ScriptedModel::new(Script::of([ScriptStep::say("1. Look.\n2. Write.")]));
    let world = World::new(policy, model, Attendance::Attended);
    let (here, there) = (world.hub(&Bomb::at(None)), world.hub(&Bomb::at(None)));
    let session = here.open(World::opening(), world.agent()).await.expect("opened");
    let child = CallId { run: RunId(1), turn: TurnId(1), index: 0 };
    let opening = SessionChoice { key: child_key(session.id(), child), ..World::opening() };
    let held = there.open(opening, world.agent()).await.expect("opened");
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    next(&mut events, |record| matches!(record, Record::ChildSpawned(_)).then_some(())).await;
    session.stop(StopBy::Person).await.expect("stopped");
    let ended = |record: &Record| match record {
        Record::RunEnded(ended) => Some(ended.reason),
        _ => None,
    };
    assert_eq!(next(&mut events, ended).await, EndReason::Cancelled);
    drop(held);
}
