//! Commands for a session that another process drives. Two hubs over one store stand for two processes.

use std::sync::Arc;

use crate::support::{Bomb, World};
use futures_util::future::{join, join_all};
use serde_json::json;
use windlass_machine::preset;
use windlass_runtime::{ControlDelivery, Hub, Session, SessionActivity};
use windlass_store::{ControlLane as _, Inbox as _, Ownership as _};
use windlass_testkit::{BodyPoint, FaultKind, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{
    Answer, Attendance, Control, ControlOutcome, Policy, QuestionId, QuestionOption, Record, SessionId, Steering,
    StopBy, StreamIdle, Timestamp,
};

fn world(steps: impl IntoIterator<Item = ScriptStep>) -> World {
    let policy = Policy {
        stream_idle: StreamIdle { first_ms: 3_600_000, next_ms: 3_600_000 },
        // The clock runs fast; no approval may expire meanwhile.
        approval_wait_ms: u64::from(u32::MAX),
        steering: Steering::Queue,
        ..preset("default").expect("a preset")
    };
    World::new(policy, ScriptedModel::new(Script::of(steps)), Attendance::Attended)
}

/// Returns a reply that stalls after its first words.
fn stalls() -> ScriptStep {
    ScriptStep::say("Words that go on and on").fault(FaultKind::Idle { after: BodyPoint::Events(2) }.times(u32::MAX))
}

fn gated() -> ScriptStep {
    ScriptStep::call("scripted__gated", json!({"label": "as asked"}))
}

/// Returns a session at work in one process, and the hub of another process.
async fn at_work(world: &World) -> (Session, Hub) {
    let there = world.hub(&Bomb::at(None));
    let session = there.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    (session, world.hub(&Bomb::at(None)))
}

async fn asked(session: &Session) -> QuestionId {
    let SessionActivity::Waiting(questions) = session.settled().await else { panic!("it waits") };
    questions[0].question
}

fn answers(question: QuestionId, option: QuestionOption) -> Control {
    Control::Answer { question, answer: Answer::plain(option) }
}

fn count(world: &World, kind: &str) -> usize {
    world.records().iter().filter(|record| record.kind() == kind).count()
}

async fn nothing_is_left(world: &World) {
    assert_eq!(world.store.commands(Timestamp(0)).await.expect("read"), []);
}

// proves L8: a stop from another process acts during a model call and overtakes the queue
#[tokio::test]
async fn a_stop_from_another_process_overtakes_what_waits() {
    let world = world([stalls()]);
    let (session, here) = at_work(&world).await;
    for number in 0..200 {
        session.send(format!("waits {number}").into(), "later").await.expect("sent");
    }
    let stopped = here.control(session.id(), Control::Stop {}).await.expect("sent");
    assert_eq!(stopped, ControlDelivery::Done(ControlOutcome::Stopped { runs: 1, dropped: 200 }));
    assert_eq!(session.settled().await, SessionActivity::Idle);
    assert_eq!(world.store.waiting(session.id()).await.expect("read"), []);
    assert_eq!((count(&world, "MessageAccepted"), count(&world, "CancelAsked"), count(&world, "RunEnded")), (1, 1, 1));
    let again = here.control(session.id(), Control::Stop {}).await.expect("sent");
    assert_eq!(
        again,
        ControlDelivery::Done(ControlOutcome::Stopped { runs: 0, dropped: 0 }),
        "no run is open any more"
    );
    nothing_is_left(&world).await;
}

// proves T8: an answer from another process counts like a local one, and one that comes too late is reported as such
#[tokio::test]
async fn an_answer_from_another_process_is_taken_once() {
    let world = world([gated(), gated(), ScriptStep::say("Aye.")]);
    let (session, here) = at_work(&world).await;
    let id = session.id();
    let tell = async |control| here.control(id, control).await.expect("sent");
    let first = asked(&session).await;
    assert_eq!(tell(answers(QuestionId(77), QuestionOption::No)).await, done(ControlOutcome::NoSuchQuestion {}));
    assert_eq!(tell(answers(first, QuestionOption::RunAgain)).await, done(ControlOutcome::NotOffered {}));
    let tries = join_all((0..12).map(|_| tell(answers(first, QuestionOption::Once)))).await;
    let taken = tries.iter().filter(|told| **told == done(ControlOutcome::Answered {})).count();
    let late = tries.iter().filter(|told| **told == done(ControlOutcome::AlreadyAnswered {})).count();
    assert_eq!((taken, late), (1, 11));
    let second = asked(&session).await;
    assert_eq!(tell(answers(second, QuestionOption::No)).await, done(ControlOutcome::Answered {}));
    assert_eq!(session.settled().await, SessionActivity::Idle);
    assert_eq!((count(&world, "QuestionAnswered"), world.executed().len()), (2, 1));
    nothing_is_left(&world).await;
}

fn done(outcome: ControlOutcome) -> ControlDelivery {
    ControlDelivery::Done(outcome)
}

#[tokio::test]
async fn an_answer_to_a_run_that_was_stopped_is_told_so() {
    let world = world([gated()]);
    let (session, here) = at_work(&world).await;
    let question = asked(&session).await;
    session.stop(StopBy::Person).await.expect("stopped");
    let told = here.control(session.id(), answers(question, QuestionOption::Once)).await.expect("sent");
    assert_eq!(told, done(ControlOutcome::RunIsOver {}));
    assert_eq!(world.executed().len(), 0);
}

// proves X1: the text of an answer is stored without secrets, also while it is being delivered
#[tokio::test]
async fn an_answer_on_its_way_holds_no_secret() {
    let mut world = world([gated(), ScriptStep::say("Aye.")]);
    world.secrets = vec![("DEPLOY_TOKEN".into(), "hush-hush-this-is-long-1234".into())];
    let (session, here) = at_work(&world).await;
    let question = asked(&session).await;
    let id = session.id();
    session.close().await;
    // A process has the session that never polls.
    let lease = world.store.claim(id).await.expect("claimed");
    let reason = Some("not hush-hush-this-is-long-1234".to_owned());
    let answer = Answer { reason, ..Answer::plain(QuestionOption::No) };
    let sending = here.control(id, Control::Answer { question, answer });
    let look = async {
        let found = loop {
            match world.store.commands(Timestamp(0)).await.expect("read").pop() {
                Some(found) => break found,
                None => tokio::task::yield_now().await,
            }
        };
        drop(lease);
        found
    };
    let (told, found) = join(sending, look).await;
    assert_eq!(told.expect("sent"), ControlDelivery::OwnerLeft);
    let Control::Answer { answer, .. } = found.control else { panic!("an answer") };
    let reason = answer.reason.expect("a reason");
    assert!(reason.starts_with("not ") && !reason.contains("hush"), "{reason}");
}

// proves J5: a later owner of the session does not execute a command for an earlier one
#[tokio::test]
async fn a_command_to_an_owner_that_dies_reaches_nobody() {
    let world = world([stalls(), ScriptStep::say("Done.")]);
    let (session, here) = at_work(&world).await;
    let id = session.id();
    session.close().await;
    let lease = world.store.claim(id).await.expect("claimed");
    let die = async {
        while world.store.commands(Timestamp(0)).await.expect("read").is_empty() {
            tokio::task::yield_now().await;
        }
        drop(lease);
    };
    let (told, ()) = join(here.control(id, Control::Stop {}), die).await;
    assert_eq!(told.expect("sent"), ControlDelivery::OwnerLeft);
    nothing_is_left(&world).await;
    assert_eq!(count(&world, "CancelAsked"), 0);
}

// proves J5: the next owner skips a command that its sender could not withdraw any more
#[tokio::test]
async fn a_command_that_was_left_behind_is_not_for_the_next_owner() {
    let world = world([stalls()]);
    let (session, here) = at_work(&world).await;
    let id = session.id();
    session.close().await;
    let lease = world.store.claim(id).await.expect("claimed");
    let left = windlass_store::SentCommand {
        id: "left".into(),
        control: Control::Stop {},
        at: Timestamp(0),
        expires: Timestamp(i64::MAX),
    };
    world.store.send_command(id, left).await.expect("sent");
    drop(lease);
    let session = here.open(World::opening(), world.agent()).await.expect("opened");
    // It takes a command that is meant for it, but not the other one.
    let there = world.hub(&Bomb::at(None));
    let told = there.control(id, answers(QuestionId(9), QuestionOption::No)).await.expect("sent");
    assert_eq!(told, done(ControlOutcome::NoSuchQuestion {}));
    assert_eq!((session.activity(), count(&world, "CancelAsked")), (SessionActivity::Working, 0));
    assert_eq!(world.store.commands(Timestamp(0)).await.expect("read").len(), 1);
}

#[tokio::test]
async fn a_command_to_a_session_that_nobody_has_is_told_so_at_once() {
    let world = world([stalls()]);
    let (session, here) = at_work(&world).await;
    let id = session.id();
    session.close().await;
    let unknown = SessionId(uuid::Uuid::from_u128(1));
    for session in [id, unknown] {
        assert_eq!(here.control(session, Control::Stop {}).await.expect("sent"), ControlDelivery::NobodyThere);
    }
    nothing_is_left(&world).await;
}

#[tokio::test]
async fn a_session_that_is_live_here_is_told_without_a_detour() {
    let world = world([stalls()]);
    let hub = world.hub(&Bomb::at(None));
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    let stopped = hub.control(session.id(), Control::Stop {}).await.expect("stopped");
    assert_eq!(stopped, done(ControlOutcome::Stopped { runs: 1, dropped: 0 }));
    assert!(world.records().iter().any(|record| matches!(record, Record::CancelAsked(_))));
}

// proves J5: polling for commands keeps neither a session nor a store open
#[tokio::test]
async fn whoever_closes_the_last_session_leaves_nothing_behind() {
    let world = world([stalls()]);
    let (session, here) = at_work(&world).await;
    let id = session.id();
    assert_eq!(
        here.control(id, Control::Stop {}).await.expect("sent"),
        done(ControlOutcome::Stopped { runs: 1, dropped: 0 })
    );
    session.close().await;
    assert!(!world.store.is_claimed(id).await.expect("asked"));
    drop(here);
    let mut store = world.store;
    let begun = std::time::Instant::now();
    while Arc::get_mut(&mut store).is_none() {
        assert!(begun.elapsed().as_secs() < 10, "somebody still holds the store");
        tokio::task::yield_now().await;
    }
}
