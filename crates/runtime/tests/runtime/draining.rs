//! Draining: what is under way is finished, nothing else begins, and the next process goes on (J3).

use std::collections::BTreeMap;

use crate::support::{Bomb, End, World};
use serde_json::json;
use windlass_machine::preset;
use windlass_runtime::{SendOutcome, Session, SessionActivity, Subscription};
use windlass_store::Inbox as _;
use windlass_testkit::{FaultKind, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{Answer, Attendance, EndReason, Event, Policy, QuestionOption, Steering};

fn world(attendance: Attendance, steps: impl IntoIterator<Item = ScriptStep>) -> World {
    World::new(preset("default").expect("a preset"), ScriptedModel::new(Script::of(steps)), attendance)
}

/// Returns a reply that takes a while, once: long enough that a drain begins before it comes.
fn slow(step: ScriptStep) -> ScriptStep {
    step.fault(FaultKind::Delay { ms: 300 }.times(1))
}

async fn until(events: &mut Subscription, kind: &str) {
    loop {
        match events.next().await.expect("the session is open") {
            Event::Record(envelope) if envelope.record.kind() == kind => return,
            Event::Record(_) | Event::Delta(_) => {}
        }
    }
}

/// Waits until the model was called this often.
async fn called(bomb: &Bomb, times: u64) {
    while bomb.models.load(std::sync::atomic::Ordering::SeqCst) < times {
        tokio::task::yield_now().await;
    }
}

fn kinds(world: &World) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for record in world.records() {
        *kinds.entry(record.kind().to_owned()).or_default() += 1;
    }
    kinds
}

async fn settled_run(world: &World) -> (EndReason, String) {
    let End::Ended(ended) = world.process(&Bomb::at(None)).await else { panic!("it goes on") };
    (ended.reason, ended.answer)
}

async fn is_released(world: &World, session: &Session) -> bool {
    use windlass_store::Ownership as _;
    !world.store.is_claimed(session.id()).await.expect("asked")
}

// proves J3: a model call under way is finished; the calls it asks for begin in the next process, and none is unclear
#[tokio::test]
async fn a_model_call_under_way_is_finished_and_its_calls_begin_in_the_next_process() {
    let steps = [slow(ScriptStep::call("scripted__read", json!({"n": 1}))), ScriptStep::say("Done.")];
    let world = world(Attendance::Unattended, steps);
    let bomb = Bomb::at(None);
    let hub = world.hub(&bomb);
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    called(&bomb, 1).await;
    hub.drain(std::future::pending()).await;
    assert!(is_released(&world, &session).await);
    let recorded = kinds(&world);
    assert_eq!((recorded.get("ModelReplied"), recorded.get("CallRequested")), (Some(&1), Some(&1)), "{recorded:?}");
    assert_eq!((recorded.get("CallFinished"), recorded.get("RunEnded")), (None, None), "{recorded:?}");
    assert_eq!(world.executed(), BTreeMap::new(), "the call has not begun");
    assert_eq!(settled_run(&world).await, (EndReason::Completed, "Done.".to_owned()));
    assert_eq!(world.executed().values().copied().collect::<Vec<_>>(), [1]);
}

// proves J3, J4: a call that a later process could not tell from one that ran is run, so that nobody is asked about it
#[tokio::test]
async fn a_call_whose_start_is_recorded_and_unrepeatable_is_run_before_the_run_is_put_down() {
    let steps = [slow(ScriptStep::call("scripted__pay", json!({"n": 1}))), ScriptStep::say("Paid.")];
    let world = world(Attendance::Attended, steps);
    let bomb = Bomb::at(None);
    let hub = world.hub(&bomb);
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    called(&bomb, 1).await;
    hub.drain(std::future::pending()).await;
    assert_eq!(kinds(&world).get("CallFinished"), Some(&1));
    assert_eq!(bomb.models.load(std::sync::atomic::Ordering::SeqCst), 1, "no model call is begun");
    assert_eq!(settled_run(&world).await, (EndReason::Completed, "Paid.".to_owned()));
    assert_eq!(world.executed().values().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(kinds(&world).get("QuestionAsked"), None);
}

// proves J3, T8: a run that waits for a person is put down at once, and asks again in the next process
#[tokio::test]
async fn a_waiting_approval_survives_a_drain() {
    let steps = [ScriptStep::call("scripted__gated", json!({"n": 1})), ScriptStep::say("Done.")];
    let mut world = world(Attendance::Attended, steps);
    // Days by the clock of the test, which runs 20,000 times as fast.
    world.policy.approval_wait_ms = 10_000_000_000;
    let hub = world.hub(&Bomb::at(None));
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    let SessionActivity::Waiting(questions) = session.settled().await else { panic!("it asks") };
    hub.drain(std::future::pending()).await;
    assert!(is_released(&world, &session).await);
    assert_eq!(kinds(&world).get("QuestionAnswered"), None, "nobody answered for the person");
    let hub = world.hub(&Bomb::at(None));
    let again = windlass_runtime::OpenApprovals::Answered;
    let (session, mut events) = hub.open_existing(session.id(), world.agent(), again).await.expect("opened");
    let answer = Answer::plain(QuestionOption::Once);
    assert!(session.answer(questions[0].question, answer).await.expect("answered"), "under the same id");
    until(&mut events, "RunEnded").await;
    assert_eq!(world.executed().values().copied().collect::<Vec<_>>(), [1]);
}

// proves J3, J4: a call that takes longer than the drain may is cut short, and settled in the next process
#[tokio::test]
async fn a_call_that_outlasts_the_drain_is_settled_in_the_next_process() {
    let steps = [ScriptStep::call("scripted__stuck", json!({})), ScriptStep::say("Done.")];
    let world = world(Attendance::Unattended, steps);
    let hub = world.hub(&Bomb::at(None));
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    until(&mut events, "CallStarted").await;
    let (out_of_time, is_out_of_time) = tokio::sync::oneshot::channel::<()>();
    let draining = hub.drain(async { drop(is_out_of_time.await) });
    tokio::pin!(draining);
    let still = tokio::time::timeout(std::time::Duration::from_millis(200), &mut draining).await;
    assert!(still.is_err(), "it waits for the call");
    assert!(!is_released(&world, &session).await);
    drop(out_of_time);
    draining.await;
    assert!(is_released(&world, &session).await);
    let recorded = kinds(&world);
    assert_eq!((recorded.get("CallFinished"), recorded.get("CancelAsked")), (None, None), "{recorded:?}");
    assert_eq!(settled_run(&world).await, (EndReason::Completed, "Done.".to_owned()));
    assert_eq!(kinds(&world).get("CallSettled"), Some(&1));
}

// proves J3, J6: a run may end while the driver drains; what waits stays in the inbox
#[tokio::test]
async fn a_message_that_waits_is_left_to_the_next_process() {
    let mut world = world(Attendance::Unattended, [slow(ScriptStep::say("One.")), ScriptStep::say("Two.")]);
    world.policy = Policy { steering: Steering::Queue, ..world.policy };
    let bomb = Bomb::at(None);
    let hub = world.hub(&bomb);
    let session = hub.open(World::opening(), world.agent()).await.expect("opened");
    session.send("m".into(), "go").await.expect("sent");
    assert_eq!(session.send("n".into(), "and then").await.expect("sent"), SendOutcome::Queued);
    called(&bomb, 1).await;
    hub.drain(std::future::pending()).await;
    assert_eq!(kinds(&world).get("RunEnded"), Some(&1));
    assert_eq!(world.store.waiting(session.id()).await.expect("read").len(), 1);
    let session = world.open(&Bomb::at(None)).await.expect("opened");
    assert_eq!(session.settled().await, SessionActivity::Idle);
    assert_eq!(kinds(&world).get("RunEnded"), Some(&2));
}
