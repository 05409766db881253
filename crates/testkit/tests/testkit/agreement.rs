//! The server, seen by the real client, and the model in process give the same results.

use crate::common::{ask, context, continued, request, user};
use serde_json::json;
use windlass_provider::{Delivery, HttpClient, HttpConfig, HttpModel, ModelConfig, ModelRequest};
use windlass_testkit::{BodyPoint, FaultKind, ModelServer, ReplyPace, Script, ScriptStep, ScriptedModel, WriteSplit};
use windlass_vocab::Failure;

fn client(server: &ModelServer) -> HttpModel {
    let http = HttpClient::new(HttpConfig::default()).unwrap();
    HttpModel::new(ModelConfig::chat(server.base_url(), "scripted"), &http).unwrap()
}

fn steps() -> Vec<ScriptStep> {
    vec![
        ScriptStep::say("Let me look…").thinking("hm, ¿qué?").and_call("a", json!({"n": "$STEP", "text": "ä–🦀"})),
        ScriptStep::call("a", json!({})).and_call("a", json!({"deep": [1, {"x": null}]})).usage(120, 34),
        ScriptStep::say("a long answer ".repeat(40)).finish("length"),
    ]
}

#[tokio::test]
async fn a_conversation_is_the_same_over_the_wire_and_in_process() {
    // proves M1
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        for writes in [WriteSplit::Whole, WriteSplit::Events, WriteSplit::Bytes(7)] {
            let script = Script::of(steps()).pace(ReplyPace { writes, ..ReplyPace::default() });
            let server = ModelServer::start(script.clone()).unwrap();
            let (near, far, context) = (ScriptedModel::new(script), client(&server), context());
            let mut history = vec![user("go")];
            for turn in 1..=3 {
                let request = ModelRequest { delivery, tail: "it is late", ..request(&context, &history) };
                let (here, shown_here) = ask(&near, &request).await;
                let (there, shown_there) = ask(&far, &request).await;
                assert_eq!((&there, shown_there), (&here, shown_here));
                history = continued(history.clone(), &here.unwrap(), turn);
            }
            assert_eq!(server.refused(), Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn a_fault_means_the_same_over_the_wire_and_in_process() {
    // proves M3, M4
    let overflow = r#"{"error": {"message": "too long", "code": "context_length_exceeded"}}"#;
    let quota = r#"{"error": {"message": "none left", "type": "insufficient_quota"}}"#;
    let with_body = |code, body: &str| FaultKind::Status { code, body: Some(body.to_owned()), retry_after: None };
    let faults = [
        FaultKind::Status { code: 429, body: None, retry_after: Some("3".into()) },
        FaultKind::status(503),
        FaultKind::status(401),
        FaultKind::status(404),
        with_body(400, overflow),
        with_body(429, quota),
        FaultKind::Refuse,
        FaultKind::Html,
        FaultKind::Garbage,
        FaultKind::EndlessLine { bytes: 200_000_000 },
        FaultKind::Cut { after: BodyPoint::Bytes(0) },
        FaultKind::Cut { after: BodyPoint::Events(3) },
        FaultKind::Idle { after: BodyPoint::Events(3) },
        FaultKind::ErrorObject { after: BodyPoint::Events(3), message: "Overloaded, try later".into() },
    ];
    let step =
        faults.iter().fold(ScriptStep::say("one two three four five six"), |step, fault| step.fault(fault.clone()));
    let script = Script::of([step.fault(FaultKind::MissingDone).fault(FaultKind::Split { at: vec![1, 9, 100, 101] })]);
    let server = ModelServer::start(script.clone()).unwrap();
    let (near, far, context) = (ScriptedModel::new(script), client(&server), context());
    let history = [user("go")];
    let mut request = request(&context, &history);
    let meaning = |failure: Failure| (failure.class, failure.status, failure.retry_after_ms, failure.first_byte);
    for fault in faults {
        request.idle.next_ms = if matches!(fault, FaultKind::Idle { .. }) { 50 } else { 60_000 };
        let here = ask(&near, &request).await.0.unwrap_err();
        // A new connection, because a reused one that ends without an answer is replaced, which is no failure.
        let there = ask(&client(&server), &request).await.0.unwrap_err();
        assert_eq!(meaning(there), meaning(here), "{fault:?}");
    }
    for _ in 0..3 {
        assert_eq!(ask(&far, &request).await, ask(&near, &request).await);
    }
}
