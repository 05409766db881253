//! The scripted model in process.

use std::time::Duration;

use crate::common::{ask, context, continued, request, user};
use serde_json::json;
use windlass_provider::{Delivery, ModelRequest};
use windlass_testkit::{BodyPoint, FaultKind, ReplyPace, Scene, Script, ScriptStep, ScriptedModel};
use windlass_vocab::{FailureClass, StopReason, TurnMode};

#[tokio::test]
async fn the_model_answers_by_the_state_of_the_conversation() {
    let script = Script::of([
        ScriptStep::say("hm").thinking("so").and_call("a", json!({"n": "$STEP"})),
        ScriptStep::say("done"),
    ]);
    let model = ScriptedModel::new(script);
    let context = context();
    let start = vec![user("go")];
    let (first, shown) = ask(&model, &request(&context, &start)).await;
    let first = first.unwrap();
    assert_eq!(shown, r#"(so)hma{"n":"1"}"#);
    assert_eq!((first.stop, first.calls[0].arguments.as_str()), (StopReason::Calls, r#"{"n":"1"}"#));
    let history = continued(start.clone(), &first, 1);
    for _ in 0..2 {
        assert_eq!(ask(&model, &request(&context, &history)).await.0.unwrap().text(), "done");
        assert_eq!(ask(&model, &request(&context, &start)).await.0.unwrap(), first);
    }
    assert_eq!(model.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_turn_without_tools_has_a_scene_of_its_own() {
    let script = Script::default()
        .scene(Scene::without_tools([ScriptStep::say("summary")]))
        .scene(Scene::when("", [ScriptStep::say("work")]));
    let model = ScriptedModel::new(script);
    let (context, history) = (context(), [user("go")]);
    let wrap_up = ModelRequest { mode: TurnMode::WrapUp, ..request(&context, &history) };
    assert_eq!(ask(&model, &wrap_up).await.0.unwrap().text(), "summary");
    assert_eq!(ask(&model, &request(&context, &history)).await.0.unwrap().text(), "work");
}

#[tokio::test]
async fn faults_come_back_as_the_failures_a_client_makes_of_them() {
    let quota = FaultKind::Status { code: 429, body: Some("insufficient_quota".into()), retry_after: None };
    let overflow = FaultKind::Status { code: 400, body: Some("context_length_exceeded".into()), retry_after: None };
    let faults = [
        (FaultKind::status(503), FailureClass::Transient, false),
        (FaultKind::status(401), FailureClass::Auth, false),
        (FaultKind::status(404), FailureClass::BadRequest, false),
        (quota, FailureClass::Quota, false),
        (overflow, FailureClass::Overflow, false),
        (FaultKind::Html, FailureClass::Protocol, false),
        (FaultKind::Refuse, FailureClass::Transient, false),
        (FaultKind::Cut { after: BodyPoint::Events(1) }, FailureClass::Transient, true),
        (FaultKind::Cut { after: BodyPoint::Bytes(0) }, FailureClass::Transient, false),
        (
            FaultKind::ErrorObject { after: BodyPoint::Events(1), message: "overloaded".into() },
            FailureClass::Transient,
            true,
        ),
    ];
    let step = faults.iter().fold(ScriptStep::say("at last"), |step, (fault, ..)| step.fault(fault.clone()));
    let model = ScriptedModel::new(Script::of([step]));
    let (context, history) = (context(), [user("go")]);
    for (fault, class, first_byte) in faults {
        let failure = ask(&model, &request(&context, &history)).await.0.unwrap_err();
        assert_eq!((failure.class, failure.first_byte), (class, first_byte), "{fault:?}");
    }
    assert_eq!(ask(&model, &request(&context, &history)).await.0.unwrap().text(), "at last");
}

#[tokio::test(start_paused = true)]
async fn an_idle_stream_fails_after_the_idle_limit_and_a_paced_one_takes_its_time() {
    let pace = ReplyPace { latency_ms: 100, pause_ms: 10, delta_chars: 1, ..ReplyPace::default() };
    let step = ScriptStep::say("abc").fault(FaultKind::Idle { after: BodyPoint::Events(2) }).pace(pace);
    let model = ScriptedModel::new(Script::of([step]));
    let (context, history) = (context(), [user("go")]);
    let begun = tokio::time::Instant::now();
    let (end, shown) = ask(&model, &request(&context, &history)).await;
    assert_eq!((end.unwrap_err().first_byte, shown.as_str()), (true, "ab"));
    assert_eq!(begun.elapsed(), Duration::from_millis(100 + 10 + 60_000));
    let begun = tokio::time::Instant::now();
    assert_eq!(ask(&model, &request(&context, &history)).await.1, "abc");
    assert_eq!(begun.elapsed(), Duration::from_millis(120));
}

#[tokio::test]
async fn a_whole_reply_has_no_pieces_and_an_illegal_history_is_refused() {
    let model = ScriptedModel::new(Script::of([ScriptStep::say("hello")]));
    let (context, history) = (context(), [user("go")]);
    let whole = ModelRequest { delivery: Delivery::Whole, ..request(&context, &history) };
    let (end, shown) = ask(&model, &whole).await;
    assert_eq!((end.unwrap().text().as_str(), shown.as_str()), ("hello", ""));
    let failure = ask(&model, &request(&context, &[])).await.0.unwrap_err();
    assert_eq!(failure.class, FailureClass::BadRequest);
    assert_eq!(model.refused(), ["illegal history: there is no user message"]);
    assert_eq!(model.heard_requests().len(), 2);
}
