//! The driver with a scripted model: steering, stopping, the inbox, secrets, fencing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::support::{Bomb, End, Point, Side, World};
use serde_json::json;
use windlass_machine::preset;
use windlass_runtime::{SendOutcome, Session, SessionActivity, SessionClosed, Subscription};
use windlass_store::{AppendError, Batch, Entry, Inbox as _, SessionLog as _, StoreError, Writer};
use windlass_testkit::{AfterSteps, BodyPoint, FaultKind, Scene, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{
    Attendance, DeltaBody, EndReason, Event, LeaseTaken, MessageId, OutcomeKind, Policy, Record, RunEnded, RunId,
    StopBy,
};

fn policy(name: &str) -> Policy {
    preset(name).expect("a preset")
}

fn world(policy: Policy, script: Script) -> World {
    World::new(policy, ScriptedModel::new(script), Attendance::Unattended)
}

async fn open(world: &World) -> Session {
    world.open(&Bomb::at(None)).await.expect("opened")
}

// proves J2, J6: a session starts once, even if its first commit took place and is retried
#[tokio::test]
async fn a_beginning_that_was_not_heard_of_is_tried_again_and_stands() {
    let world = world(policy("default"), Script::of([ScriptStep::say("Done.")]));
    let End::Ended(ended) = world.process(&Bomb::at(Some(Point::Unheard))).await else { panic!("it must begin") };
    assert_eq!(ended.answer, "Done.");
    assert_eq!(world.records().iter().filter(|record| record.kind() == "MessageAccepted").count(), 1);
}

/// Returns a reply that never comes: the call can only be aborted.
fn never() -> ScriptStep {
    ScriptStep::say("too late").fault(FaultKind::Delay { ms: 3_600_000 }.times(u32::MAX))
}

/// Returns a reply that stalls after its first words.
fn stalls(text: &str) -> ScriptStep {
    ScriptStep::say(text).fault(FaultKind::Idle { after: BodyPoint::Events(2) }.times(u32::MAX))
}

async fn until(events: &mut Subscription, wanted: impl Fn(&Event) -> bool) -> Event {
    loop {
        let event = events.next().await.expect("the session is open");
        if wanted(&event) {
            return event;
        }
    }
}

async fn ended(events: &mut Subscription) -> RunEnded {
    let event =
        until(events, |event| matches!(event, Event::Record(e) if matches!(e.record, Record::RunEnded(_)))).await;
    match event {
        Event::Record(envelope) => match &envelope.record {
            Record::RunEnded(ended) => ended.clone(),
            _ => unreachable!(),
        },
        Event::Delta(_) => unreachable!(),
    }
}

fn is_text(event: &Event) -> bool {
    matches!(event, Event::Delta(delta) if matches!(delta.body, DeltaBody::TextDelta { .. }))
}

fn is_record(event: &Event, kind: &str) -> bool {
    matches!(event, Event::Record(envelope) if envelope.record.kind() == kind)
}

#[tokio::test]
async fn a_stop_in_a_model_call_acts_at_once_and_keeps_what_was_streamed() {
    // proves L8
    let policy = Policy {
        stream_idle: windlass_vocab::StreamIdle { first_ms: 3_600_000, next_ms: 3_600_000 },
        ..policy("default")
    };
    let world = world(policy, Script::of([stalls("These words came before the stop and more would have followed")]));
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    until(&mut events, is_text).await;
    let stopped = session.stop(StopBy::Person).await.expect("stopped");
    assert_eq!((stopped.runs, stopped.dropped), (1, 0));
    let end = ended(&mut events).await;
    assert_eq!(end.reason, EndReason::Cancelled);
    assert!(!end.answer.is_empty(), "the partial reply is kept");
    assert_eq!(session.stop(StopBy::Person).await.expect("answered").runs, 0, "there is none to stop");
}

#[tokio::test]
async fn a_call_that_is_stopped_while_the_model_thinks_is_charged_by_estimate() {
    // proves M4, L8
    let policy = Policy {
        stream_idle: windlass_vocab::StreamIdle { first_ms: 3_600_000, next_ms: 3_600_000 },
        ..policy("default")
    };
    let thinks = stalls("an answer that never comes").thinking("So they want to know how long it takes, and then why");
    let world = world(policy, Script::of([thinks]));
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), "x".repeat(4_000)).await.expect("sent");
    until(
        &mut events,
        |event| matches!(event, Event::Delta(delta) if matches!(delta.body, DeltaBody::ThinkingDelta { .. })),
    )
    .await;
    session.stop(StopBy::Person).await.expect("stopped");
    let end = ended(&mut events).await;
    assert_eq!((end.reason, end.answer.as_str()), (EndReason::Cancelled, ""));
    assert!(end.usage.estimated && end.usage.input >= 1_000 && end.usage.calls == 1, "{:?}", end.usage);
}

#[tokio::test]
async fn a_stop_in_a_tool_reaches_it() {
    // proves L8
    let world = world(policy("default"), Script::of([ScriptStep::call("scripted__stuck", json!({}))]));
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    until(&mut events, |event| is_record(event, "CallStarted")).await;
    session.stop(StopBy::Person).await.expect("stopped");
    assert_eq!(ended(&mut events).await.reason, EndReason::Cancelled);
    let outcomes: Vec<_> = world
        .records()
        .into_iter()
        .filter_map(|record| match record {
            Record::CallFinished(finished) => Some(finished.outcome),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [OutcomeKind::Cancelled]);
}

#[tokio::test]
async fn the_deadline_stops_a_run_however_long_the_model_takes() {
    // proves L8
    let mut world = world(policy("default"), Script::of([never()]));
    world.deadline_ms = Some(60_000);
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    assert_eq!(ended(&mut events).await.reason, EndReason::Cancelled);
    assert!(world.records().iter().any(|r| matches!(r, Record::CancelAsked(asked) if asked.by == StopBy::Deadline)));
}

#[tokio::test]
async fn under_queue_a_message_waits_survives_the_process_and_is_taken_up_next() {
    // proves L7, J6
    let script = || {
        Script::default()
            .scene(Scene::when("second", [ScriptStep::call("task_completion", json!({"result": "two"}))]))
            .scene(Scene {
                steps: vec![ScriptStep::call("scripted__stuck", json!({}))],
                then: AfterSteps::RepeatLast,
                ..Scene::default()
            })
    };
    let world = world(policy("task"), script());
    let session = open(&world).await;
    let mut events = session.events();
    assert_eq!(session.send("a".into(), "first").await, Ok(SendOutcome::TakenUp(RunId(1))));
    until(&mut events, |event| is_record(event, "CallStarted")).await;
    assert_eq!(session.send("b".into(), "second").await, Ok(SendOutcome::Queued));
    assert_eq!(session.send("a".into(), "first").await, Ok(SendOutcome::Known(RunId(1))));
    session.close().await;

    let session = open(&world).await;
    let mut events = session.events();
    // A stop would drop the waiting message, so a person's answer settles the stuck call instead.
    assert_eq!(world.store.waiting(session.id()).await.expect("a store").len(), 1);
    assert!(matches!(session.settled().await, SessionActivity::Waiting(_)));
    let SessionActivity::Waiting(questions) = session.activity() else { panic!("it waits") };
    let answer = windlass_vocab::Answer::plain(windlass_vocab::QuestionOption::Interrupt);
    session.answer(questions[0].question, answer).await.expect("answered");
    until(&mut events, |event| is_record(event, "CallStarted")).await;
    let stopped = session.stop(StopBy::Person).await.expect("stopped");
    assert_eq!((stopped.runs, stopped.dropped), (1, 1), "a stop drops what waits");
    assert!(world.store.waiting(session.id()).await.expect("a store").is_empty());
}

#[tokio::test]
async fn a_queued_message_is_answered_when_the_run_before_it_ends() {
    // proves L7
    let script = Script::default().scene(Scene::when("second", [ScriptStep::say("two")])).scene(Scene {
        steps: vec![ScriptStep::say("one").fault(FaultKind::Delay { ms: 50 }.times(1))],
        ..Scene::default()
    });
    let world = world(policy("durable-chat"), script);
    let session = open(&world).await;
    let mut events = session.events();
    session.send("a".into(), "first").await.expect("sent");
    assert_eq!(session.send("b".into(), "second").await, Ok(SendOutcome::Queued));
    assert_eq!(ended(&mut events).await.answer, "one");
    assert_eq!(ended(&mut events).await.answer, "two");
    assert_eq!(session.settled().await, SessionActivity::Idle);
    assert!(world.store.waiting(session.id()).await.expect("a store").is_empty());
}

#[tokio::test]
async fn a_message_that_would_have_to_wait_can_be_refused_instead() {
    // proves J6
    let script = Script::when("second", [ScriptStep::say("two")]).scene(Scene::when("first", [never()]));
    let world = world(policy("default"), script);
    let session = open(&world).await;
    let mut events = session.events();
    assert_eq!(session.send_if_idle("a".into(), "first").await, Ok(Some(SendOutcome::TakenUp(RunId(1)))));
    assert_eq!(session.send_if_idle("b".into(), "second").await, Ok(None));
    assert_eq!(session.send_if_idle("a".into(), "first").await, Ok(Some(SendOutcome::Known(RunId(1)))));
    assert!(world.store.waiting(session.id()).await.expect("a store").is_empty(), "what is refused is not kept");
    session.stop(StopBy::Person).await.expect("stopped");
    assert_eq!(ended(&mut events).await.reason, EndReason::Cancelled);
    assert_eq!(session.settled().await, SessionActivity::Idle);
    assert_eq!(session.send_if_idle("b".into(), "second").await, Ok(Some(SendOutcome::TakenUp(RunId(2)))));
    assert_eq!(ended(&mut events).await.answer, "two");
}

#[tokio::test]
async fn a_stream_that_dies_is_cleared_and_answered_whole() {
    // proves M4
    let dies = ScriptStep::say("a rather long answer in several pieces")
        .fault(FaultKind::Cut { after: BodyPoint::Events(3) }.times(1));
    let world = world(policy("default"), Script::of([dies]));
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    until(&mut events, is_text).await;
    until(&mut events, |event| matches!(event, Event::Delta(delta) if delta.body == DeltaBody::Cleared {})).await;
    assert_eq!(ended(&mut events).await.answer, "a rather long answer in several pieces");
}

#[tokio::test]
async fn a_secret_reaches_neither_model_nor_journal_nor_subscribers() {
    // proves X1
    const SECRET: &str = "sk-0123456789abcdef";
    let script = Script::of([
        ScriptStep::call("scripted__read", json!({"echo": SECRET})),
        ScriptStep::say(format!("the key is {SECRET}, keep it")),
    ]);
    let mut world = world(policy("default"), script);
    world.secrets = vec![("OPENAI_API_KEY".to_owned(), SECRET.to_owned())];
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), format!("my key is {SECRET}")).await.expect("sent");
    session.settled().await;
    session.set_title(format!("about {SECRET}")).await.expect("entitled");
    let mut seen = String::new();
    while let Some(event) = events.try_next() {
        seen.push_str(&serde_json::to_string(&event).expect("JSON"));
    }
    assert!(seen.contains("about ⟦secret:OPENAI_API_KEY⟧"));
    assert!(seen.contains("RunEnded") && seen.contains("⟦secret:OPENAI_API_KEY⟧"));
    assert!(!seen.contains(SECRET), "{seen}");
    assert!(world.model.heard_requests().iter().all(|heard| !format!("{heard:?}").contains(SECRET)));
}

#[tokio::test]
async fn a_title_is_recorded_even_while_a_run_works() {
    // proves J1: session lists are derived from the journal
    let world = world(policy("default"), Script::of([never()]));
    let session = open(&world).await;
    session.send("m".into(), "go").await.expect("sent");
    session.set_title("a walk").await.expect("entitled");
    let row = world.store.row(session.id()).await.expect("a store").expect("a session");
    assert_eq!(row.title.as_deref(), Some("a walk"));
    assert_eq!(session.activity(), SessionActivity::Working);
}

#[tokio::test]
async fn a_writer_that_was_fenced_off_can_not_write() {
    // proves J5
    let world = world(policy("default"), Script::of([never()]));
    let session = open(&world).await;
    session.send("m".into(), "go").await.expect("sent");
    let mut events = session.events();
    // The driver may still be at its first writes; another writer takes over at the present head.
    loop {
        let head = world.store.head(session.id()).await.expect("a store");
        let taken = LeaseTaken { epoch: head.epoch + 1, holder: "elsewhere".into() };
        let batch = Batch { entries: vec![Entry::new(taken)], ..Batch::default() };
        let sealed = Writer::new(session.id(), head, 7).seal(batch).expect("sealed");
        match world.store.append(sealed).await {
            Ok(()) => break,
            Err(AppendError::Conflict) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
    let stopped = session.stop(StopBy::Person).await;
    assert_eq!(stopped, Err(SessionClosed::Store(StoreError::Conflict)));
    assert_eq!(session.settled().await, SessionActivity::Closed(SessionClosed::Store(StoreError::Conflict)));
    while let Some(event) = events.next().await {
        assert!(!is_record(&event, "CancelAsked"), "a fenced writer published something");
    }
}

#[tokio::test]
async fn an_append_whose_answer_was_lost_is_made_again_and_counts_once() {
    // proves J1, J9
    let kinds = |world: &World| world.records().iter().map(|record| record.kind().to_owned()).collect::<Vec<_>>();
    let steps = || Script::of([ScriptStep::call("scripted__set", json!({"key": "a"})), ScriptStep::say("Done.")]);
    let undisturbed = world(policy("default"), steps());
    assert!(matches!(undisturbed.process(&Bomb::at(None)).await, End::Ended(_)));
    let mut unclear = 0;
    for side in [Side::Before, Side::After] {
        for number in 1..=4 {
            let disturbed = world(policy("default"), steps());
            let bomb = Bomb::at(Some(Point::Unclear(side, number)));
            let End::Ended(ended) = disturbed.process(&bomb).await else { panic!("append {number} ends it") };
            assert_eq!((ended.reason, kinds(&disturbed)), (EndReason::Completed, kinds(&undisturbed)));
            unclear += u32::from(bomb.appends.load(Ordering::SeqCst) > number);
        }
    }
    assert_eq!(unclear, 8);
}

#[tokio::test]
async fn a_driver_that_learns_that_its_lease_is_lost_ends_at_once() {
    // proves J5
    let world = world(policy("default"), Script::of([never()]));
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    until(&mut events, |event| is_record(event, "TurnStarted")).await;
    // Another writer takes over, and the store rejects an append that comes too late.
    let head = world.store.head(session.id()).await.expect("a store");
    for epoch in [head.epoch + 1, head.epoch] {
        let taken = LeaseTaken { epoch, holder: "elsewhere".into() };
        let batch = Batch { entries: vec![Entry::new(taken)], ..Batch::default() };
        let appended = world.store.append(Writer::new(session.id(), head, epoch).seal(batch).expect("sealed")).await;
        assert_eq!(appended.is_ok(), epoch > head.epoch);
    }
    // No other command is sent: the driver would wait an hour for the model.
    assert_eq!(session.settled().await, SessionActivity::Closed(SessionClosed::Store(StoreError::Conflict)));
}

#[tokio::test]
async fn a_session_has_one_live_driver() {
    // proves J5
    let world = world(policy("default"), Script::of([ScriptStep::say("hello")]));
    let session = open(&world).await;
    let second = world.open(&Bomb::at(None)).await;
    assert!(matches!(second, Err(windlass_runtime::OpenError::Store(StoreError::Busy { .. }))));
    session.close().await;
    open(&world).await;
}

#[tokio::test]
async fn a_long_result_is_cut_for_the_model_and_kept_for_reading_on() {
    // proves T6
    let script = Script::of([ScriptStep::call("scripted__long", json!({})), ScriptStep::say("read")]);
    let world = world(policy("default"), script);
    let session = open(&world).await;
    session.send("m".into(), "go").await.expect("sent");
    session.settled().await;
    let finished = world.records().into_iter().find_map(|record| match record {
        Record::CallFinished(finished) => Some(finished),
        _ => None,
    });
    let cut = finished.expect("a result").cut.expect("cut");
    assert_eq!(cut.total_chars, crate::support::LONG_RESULT as u64);
    let blob = windlass_store::Blobs::blob(world.store.as_ref(), cut.blob.expect("kept")).await.expect("a store");
    assert_eq!(blob.expect("there").len(), crate::support::LONG_RESULT);
}

#[tokio::test]
async fn the_same_message_id_is_taken_up_once_even_when_sent_at_the_same_time() {
    // proves J6
    let world = world(policy("default"), Script::of([ScriptStep::say("hello")]));
    let session = Arc::new(open(&world).await);
    let sends = (0..8).map(|_| {
        let session = Arc::clone(&session);
        tokio::spawn(async move { session.send(MessageId("m".into()), "go").await })
    });
    for send in sends.collect::<Vec<_>>() {
        assert!(matches!(send.await.expect("joined"), Ok(SendOutcome::TakenUp(_) | SendOutcome::Known(_))));
    }
    session.settled().await;
    let accepted = world.records().iter().filter(|record| record.kind() == "MessageAccepted").count();
    assert_eq!(accepted, 1);
}

#[tokio::test]
async fn arguments_a_person_wrote_are_judged_by_what_is_forbidden() {
    // proves T8: edit and run, and no deny rule is overridden
    let gated = || ScriptStep::call("scripted__gated", json!({"label": "as asked"}));
    let world = World::new(
        policy("default"),
        ScriptedModel::new(Script::of([gated(), gated(), ScriptStep::say("Aye.")])),
        Attendance::Attended,
    );
    let session = open(&world).await;
    session.send("m".into(), "go").await.expect("sent");
    for label in ["forbidden", "allowed"] {
        let SessionActivity::Waiting(questions) = session.settled().await else { panic!("it waits") };
        let arguments = Some(windlass_vocab::Json::from(&json!({"label": label})));
        let answer = windlass_vocab::Answer { option: windlass_vocab::QuestionOption::Edit, arguments, reason: None };
        assert!(session.answer(questions[0].question, answer).await.expect("answered"));
    }
    assert_eq!(session.settled().await, SessionActivity::Idle);
    let finished = |record| match record {
        Record::CallFinished(finished) => Some((finished.outcome, finished.text.contains("forbids it"))),
        _ => None,
    };
    let outcomes: Vec<_> = world.records().into_iter().filter_map(finished).collect();
    assert_eq!(outcomes, [(OutcomeKind::Denied, true), (OutcomeKind::Ok, false)]);
    assert_eq!(world.executed().len(), 1, "what is forbidden was not run");
}

/// More calls in one reply than can finish before the next command is handled.
const CALLS: usize = 5_000;

fn many_calls() -> Script {
    let call = |step: ScriptStep, n: usize| step.and_call("scripted__read", json!({ "n": n }));
    Script::of([(0..CALLS).fold(ScriptStep::default(), call)])
}

/// Returns the outcomes of the calls that are finished.
fn outcomes(world: &World) -> Vec<OutcomeKind> {
    let outcome = |record| match record {
        Record::CallFinished(finished) => Some(finished.outcome),
        _ => None,
    };
    world.records().into_iter().filter_map(outcome).collect()
}

/// Returns how many calls of the run have succeeded; asserts that all of them have a result.
fn finished_well(world: &World) -> usize {
    let outcomes = outcomes(world);
    assert_eq!(outcomes.len(), CALLS, "every call has its result");
    assert!(outcomes.iter().all(|outcome| [OutcomeKind::Ok, OutcomeKind::Cancelled].contains(outcome)));
    outcomes.iter().filter(|outcome| **outcome == OutcomeKind::Ok).count()
}

// proves L8: a stop overtakes results that are already available
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_is_looked_at_before_the_results_of_thousands_of_calls() {
    let world = world(policy("operator"), many_calls());
    let session = open(&world).await;
    let mut events = session.events();
    session.send("m".into(), "go").await.expect("sent");
    until(&mut events, |event| is_record(event, "CallFinished")).await;
    let before = outcomes(&world).len();
    assert_eq!(session.stop(StopBy::Person).await.expect("stopped").runs, 1);
    assert_eq!(world.records().iter().filter(|record| record.kind() == "RunEnded").count(), 1, "it has acted");
    let first = finished_well(&world) - before;
    assert!(first < CALLS / 2, "{first} calls were finished before the stop");
}

// proves L8: so does the deadline, which has passed as soon as the run is resumed
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deadline_is_looked_at_before_the_results_of_thousands_of_calls() {
    let mut world = world(policy("operator"), many_calls());
    assert!(matches!(world.process(&Bomb::at(Some(Point::Tool(Side::After, 10)))).await, End::Crashed));
    let before = outcomes(&world).len();
    assert!(before < CALLS / 2, "{before} calls were finished before the crash");
    world.deadline_ms = Some(1);
    let session = open(&world).await;
    assert_eq!(session.settled().await, SessionActivity::Idle);
    assert!(world.records().iter().any(|r| matches!(r, Record::CancelAsked(asked) if asked.by == StopBy::Deadline)));
    let first = finished_well(&world) - before;
    assert!(first < CALLS / 2, "{first} calls were finished before the deadline was looked at");
}
