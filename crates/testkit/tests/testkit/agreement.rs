//! The server, seen by the real client, and the model in process give the same results.

use crate::common::{ask, context, continued, request, user};
use serde_json::json;
use windlass_provider::{Delivery, HttpClient, HttpConfig, HttpModel, ModelConfig, ModelRequest, WireKind};
use windlass_testkit::{BodyPoint, FaultKind, ModelServer, ReplyPace, Script, ScriptStep, ScriptedModel, WriteSplit};
use windlass_vocab::{Failure, Part, Reply};

const WIRES: [WireKind; 3] = [WireKind::Chat, WireKind::Messages, WireKind::Responses];

fn client(wire: WireKind, server: &ModelServer) -> HttpModel {
    let http = HttpClient::new(HttpConfig::default()).unwrap();
    let config = match wire {
        WireKind::Chat => ModelConfig::chat(server.base_url(), "scripted"),
        WireKind::Messages => ModelConfig::messages(server.base_url(), "scripted"),
        WireKind::Responses => ModelConfig::responses(server.base_url(), "scripted"),
    };
    HttpModel::new(config, &http).unwrap()
}

/// The reply without what only a wire's own server makes of it: seals of reasoning.
fn unsealed(reply: Result<Reply, Failure>) -> Result<Reply, Failure> {
    let mut reply = reply?;
    reply.parts.retain(|part| !matches!(part, Part::Opaque { .. }));
    for part in &mut reply.parts {
        if let Part::Thinking { signature, .. } = part {
            *signature = None;
        }
    }
    Ok(reply)
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
            for wire in WIRES {
                check_conversation(wire, delivery, writes).await;
            }
        }
    }
}

async fn check_conversation(wire: WireKind, delivery: Delivery, writes: WriteSplit) {
    let script = Script::of(steps()).pace(ReplyPace { writes, ..ReplyPace::default() });
    let server = ModelServer::start(script.clone()).unwrap();
    let (near, far, context) = (ScriptedModel::new(script), client(wire, &server), context());
    let mut history = vec![user("go")];
    for turn in 1..=3 {
        let request = ModelRequest { delivery, tail: "it is late", ..request(&context, &history) };
        let (here, shown_here) = ask(&near, &request).await;
        let (there, shown_there) = ask(&far, &request).await;
        assert_eq!((&unsealed(there), shown_there), (&here, shown_here), "{wire:?}");
        history = continued(history.clone(), &here.unwrap(), turn);
    }
    assert_eq!(server.refused(), Vec::<String>::new(), "{wire:?}");
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
        FaultKind::Cut { after: BodyPoint::Pieces(2) },
        FaultKind::Cut { after: BodyPoint::HalfPiece(1) },
        FaultKind::Idle { after: BodyPoint::Pieces(2) },
        FaultKind::ErrorObject { after: BodyPoint::Pieces(2), message: "Overloaded, try later".into() },
    ];
    let step =
        faults.iter().fold(ScriptStep::say("one two three four five six"), |step, fault| step.fault(fault.clone()));
    let harmless =
        [FaultKind::Split { at: vec![1, 9, 100, 101] }, FaultKind::ContentType { value: "text/plain".into() }];
    let script = Script::of([harmless.into_iter().fold(step, ScriptStep::fault)]);
    for wire in WIRES {
        check_faults(wire, &faults, script.clone()).await;
    }
}

async fn check_faults(wire: WireKind, faults: &[FaultKind], script: Script) {
    let server = ModelServer::start(script.clone()).unwrap();
    let (near, far, context) = (ScriptedModel::new(script), client(wire, &server), context());
    let history = [user("go")];
    let mut request = request(&context, &history);
    let meaning = |failure: Failure| (failure.class, failure.status, failure.retry_after_ms, failure.first_byte);
    for fault in faults {
        request.idle.next_ms = if matches!(fault, FaultKind::Idle { .. }) { 50 } else { 60_000 };
        let here = ask(&near, &request).await.0.unwrap_err();
        // A new connection, because a reused one that ends without an answer is replaced, which is no failure.
        let there = ask(&client(wire, &server), &request).await.0.unwrap_err();
        assert_eq!(meaning(there), meaning(here), "{wire:?} {fault:?}");
    }
    for _ in 0..3 {
        assert_eq!(ask(&far, &request).await, ask(&near, &request).await, "{wire:?}");
    }
}

#[tokio::test]
async fn only_chat_completions_can_do_without_the_last_event() {
    // proves M4
    for wire in WIRES {
        let server = ModelServer::start(Script::of([ScriptStep::say("hi").fault(FaultKind::MissingDone)])).unwrap();
        let (context, history) = (context(), [user("go")]);
        let (reply, _) = ask(&client(wire, &server), &request(&context, &history)).await;
        assert_eq!(reply.is_ok(), wire == WireKind::Chat, "{wire:?} {reply:?}");
    }
}
