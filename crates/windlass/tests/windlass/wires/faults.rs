//! Faults of a server, on every wire: the run ends as it should, and its events tell what happened.

use windlass::{DeltaBody, Event, PolicyPatch, WireKind};
use windlass_testkit::{BodyPoint, FaultKind, ModelServer, Script, ScriptStep};
use windlass_vocab::{Retry, StreamIdle};

use super::{WIRES, WireCase, story};

const ANSWER: &str = "one two three four five six seven eight nine ten";

/// Waits so short that the test need not wait.
fn quick() -> PolicyPatch {
    PolicyPatch {
        retry: Some(Retry { tries: 2, first_wait_ms: 1, ceiling_ms: 1 }),
        stream_idle: Some(StreamIdle { first_ms: 300, next_ms: 100 }),
        ..PolicyPatch::default()
    }
}

/// The story of a run whose only reply has this fault, so many times.
async fn told(case: &WireCase, fault: &FaultKind, times: u32) -> (Vec<String>, ModelServer) {
    let step = ScriptStep::say(ANSWER).fault(fault.clone().times(times));
    let server = ModelServer::start(Script::of([step])).expect("a server");
    let agent = case.builder(&server).in_memory().policy(quick()).build().expect("built");
    let story = story(&agent, "go").await;
    assert_eq!(server.refused(), Vec::<String>::new(), "{:?} {fault:?}", case.wire);
    (story, server)
}

fn status(code: u16, retry_after: Option<&str>) -> FaultKind {
    FaultKind::Status { code, body: None, retry_after: retry_after.map(str::to_owned) }
}

/// What a server of this wire says when nothing is left to pay with.
fn quota(case: &WireCase) -> FaultKind {
    let body = match case.wire {
        WireKind::Chat | WireKind::Responses => {
            r#"{"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota"}}"#
        }
        WireKind::Messages => {
            r#"{"type": "error", "error": {"type": "rate_limit_error", "message": "Your credit balance is too low."}}"#
        }
    };
    FaultKind::Status { code: 429, body: Some(body.to_owned()), retry_after: None }
}

fn overloaded(after: BodyPoint) -> FaultKind {
    FaultKind::ErrorObject { after, message: "Overloaded, try later".to_owned() }
}

// proves M3, M4: what passes is tried again, and after the first word asked for whole
#[tokio::test]
async fn a_passing_fault_is_overcome_and_told() {
    let again = |first: &str| vec![first.to_owned(), "attempt 2 replied".to_owned(), format!("Completed: {ANSWER}")];
    let retried = again("transient, retry");
    let whole = {
        let mut lines = again("transient, whole");
        lines.insert(1, "cleared".to_owned());
        lines
    };
    for case in &WIRES {
        for (fault, expected) in [
            (status(429, None), &again("transient 429, retry")),
            (status(429, Some("0.01")), &again("transient 429, retry")),
            (status(429, Some("Wed, 21 Oct 2015 07:28:00 GMT")), &again("transient 429, retry")),
            (status(500, None), &again("transient 500, retry")),
            (status(529, None), &again("transient 529, retry")),
            (FaultKind::Refuse, &retried),
            (FaultKind::Cut { after: BodyPoint::Pieces(0) }, &retried),
            (FaultKind::Idle { after: BodyPoint::Pieces(0) }, &retried),
            (FaultKind::Cut { after: BodyPoint::HalfPiece(0) }, &retried),
            (overloaded(BodyPoint::Pieces(0)), &retried),
            (FaultKind::Cut { after: BodyPoint::Pieces(1) }, &whole),
            (FaultKind::Idle { after: BodyPoint::Pieces(1) }, &whole),
            (FaultKind::Cut { after: BodyPoint::HalfPiece(1) }, &whole),
            (overloaded(BodyPoint::Pieces(1)), &whole),
        ] {
            let (story, server) = told(case, &fault, 1).await;
            assert_eq!(&story, expected, "{:?} {fault:?}", case.wire);
            let streamed: Vec<bool> = server.requests().iter().map(|request| request.body["stream"] == true).collect();
            assert_eq!(streamed, [true, *expected != whole], "{:?} {fault:?}", case.wire);
        }
    }
}

// proves M3
#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_recorded() {
    for case in &WIRES {
        let step = ScriptStep::say("done").fault(status(429, Some("0.01")));
        let server = ModelServer::start(Script::of([step])).expect("a server");
        let agent = case.builder(&server).in_memory().build().expect("built");
        let mut run = agent.session("s").start("go").await.expect("started");
        let mut waits = Vec::new();
        while let Some(event) = run.next().await {
            if let Event::Record(envelope) = &event
                && let windlass::Record::AttemptFailed(failed) = &envelope.record
            {
                waits.push(failed.failure.retry_after_ms);
            }
        }
        assert_eq!(waits, [Some(10)], "{:?}", case.wire);
        assert_eq!(run.answer().await.expect("an answer"), "done");
    }
}

// proves M3: no retry is spent on what can't pass
#[tokio::test]
async fn a_lasting_fault_ends_the_run_at_once_and_a_passing_one_when_its_tries_are_spent() {
    for case in &WIRES {
        for (fault, expected) in [
            (status(401, None), &["Auth 401, end"][..]),
            (status(400, None), &["BadRequest 400, end"]),
            (quota(case), &["Quota 429, end"]),
            // Longer than the policy waits.
            (status(429, Some("3600")), &["transient 429, end"]),
            (FaultKind::Html, &["Protocol, end"]),
            (FaultKind::Garbage, &["Protocol, end"]),
            (status(529, None), &["transient 529, retry", "transient 529, end"]),
            (FaultKind::Refuse, &["transient, retry", "transient, end"]),
        ] {
            let (story, _) = told(case, &fault, 9).await;
            let (last, before) = story.split_last().expect("a story");
            assert_eq!(before, expected, "{:?} {fault:?}", case.wire);
            assert!(last.starts_with("Failed: "), "{:?} {fault:?}: {last}", case.wire);
        }
    }
}

// proves M4: a server that goes on in another shape is a failure with a sentence, and never a part of an answer
#[tokio::test]
async fn a_stream_that_changes_its_shape_is_no_answer() {
    for case in &WIRES {
        for event in ["[1, 2]", "\"words\"", r#"{"choices": {"text": "x"}}"#, r#"{"type": 7}"#, "so it goes"] {
            for after in [BodyPoint::Pieces(0), BodyPoint::Pieces(1)] {
                let fault = FaultKind::OtherShape { after, event: event.to_owned() };
                let (story, _) = told(case, &fault, 9).await;
                let (last, before) = story.split_last().expect("a story");
                assert!(last.starts_with("Failed: ") && !last.contains("one two"), "{:?} {fault:?}: {last}", case.wire);
                assert!(!before.iter().any(|line| line.ends_with("replied")), "{:?} {fault:?}: {before:?}", case.wire);
            }
        }
    }
}

// proves M4
#[tokio::test]
async fn neither_a_wrong_content_type_nor_odd_writes_harm_a_reply() {
    let fine = ["attempt 1 replied".to_owned(), format!("Completed: {ANSWER}")];
    for case in &WIRES {
        for fault in [
            FaultKind::ContentType { value: "text/plain".to_owned() },
            FaultKind::ContentType { value: "application/json".to_owned() },
            FaultKind::Split { at: vec![1, 9, 100, 101, 200] },
            FaultKind::Delay { ms: 5 },
        ] {
            assert_eq!(told(case, &fault, 1).await.0, fine, "{:?} {fault:?}", case.wire);
        }
        // A stream without its last event: only Chat Completions has told its end before.
        let (story, _) = told(case, &FaultKind::MissingDone, 1).await;
        assert_eq!(story == fine, case.wire == WireKind::Chat, "{:?} {story:?}", case.wire);
        assert_eq!(story.last(), fine.last(), "{:?}", case.wire);
    }
}

// proves M5, E2: reasoning is shown as it comes, and never as the answer
#[tokio::test]
async fn thinking_text_and_calls_arrive_as_deltas() {
    for case in &WIRES {
        let call = ScriptStep::say("I note it.").thinking("hm, what?").and_call("note", serde_json::json!({"n": "1"}));
        let server = ModelServer::start(Script::of([call, ScriptStep::say("done")])).expect("a server");
        let agent = case.builder(&server).in_memory().build().expect("built");
        let mut run = agent.session("s").start("go").await.expect("started");
        let (mut thought, mut text, mut arguments) = (String::new(), String::new(), String::new());
        while let Some(event) = run.next().await {
            let Event::Delta(delta) = event else { continue };
            match delta.body {
                DeltaBody::TextDelta { text: more } => text.push_str(&more),
                DeltaBody::ThinkingDelta { text: more } => thought.push_str(&more),
                DeltaBody::CallDelta { text: more, .. } => arguments.push_str(&more),
                _ => {}
            }
        }
        let shown = (thought.as_str(), text.as_str(), arguments.as_str());
        assert_eq!(shown, ("hm, what?", "I note it.done", r#"{"n":"1"}"#), "{:?}", case.wire);
        assert_eq!(run.answer().await.expect("an answer"), "done");
    }
}
