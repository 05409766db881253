//! What is no proper request: the right status, a JSON error with what to do, and the server goes on.

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

const NOBODY: &str = "0198f3a0-0000-7000-8000-000000000001";

// proves W3
#[test]
fn bad_requests_are_answered_with_their_status_and_a_reason() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let messages = format!("/api/sessions/{session}/messages");
    let events = format!("/api/sessions/{session}/events");
    let of_nobody = |rest: &str| format!("/api/sessions/{NOBODY}{rest}");
    for (method, path, body, status, kind) in [
        ("POST", messages.as_str(), "{", 400, "bad_request"),
        ("POST", &messages, "[]", 400, "bad_request"),
        ("POST", &messages, "{\"text\": 3}", 400, "bad_request"),
        ("POST", &messages, "{\"text\": \"  \"}", 400, "bad_request"),
        ("POST", &messages, "{\"text\": \"x\", \"wait\": true}", 400, "bad_request"),
        ("POST", &of_nobody("/messages"), "{\"text\": \"x\"}", 404, "not_found"),
        ("POST", &of_nobody("/stop"), "", 404, "not_found"),
        ("GET", &of_nobody("/events"), "", 404, "not_found"),
        ("GET", &of_nobody("/export"), "", 404, "not_found"),
        ("DELETE", &of_nobody(""), "", 404, "not_found"),
        ("GET", "/api/sessions/not-an-id", "", 404, "not_found"),
        ("GET", "/api/nothing", "", 404, "not_found"),
        ("GET", "/assets/../Cargo.toml", "", 404, "not_found"),
        ("GET", "/assets/%2e%2e%2fCargo.toml", "", 404, "not_found"),
        ("GET", "/api/sessions?limit=many", "", 400, "bad_request"),
        ("GET", &format!("{events}?after=7000"), "", 400, "bad_request"),
        ("PATCH", &format!("/api/sessions/{session}"), "{\"title\": \"\"}", 400, "bad_request"),
        ("POST", &format!("/api/sessions/{session}/fork"), "{\"at\": 99}", 400, "bad_request"),
        ("POST", "/api/sessions/import", "no journal", 400, "bad_request"),
        ("POST", &format!("/api/sessions/{session}/questions/9/answer"), "{\"option\": \"once\"}", 409, "run_is_over"),
    ] {
        let answered = served.send(method, path, body);
        assert_eq!(
            (answered.status, answered.error().as_str()),
            (status, kind),
            "{method} {path} {body}: {answered:?}"
        );
    }
    let bearer = format!("Bearer {}", served.token);
    for wrong in ["x", "-1", "99999999999999999999", "7000"] {
        let forged = [("authorization", bearer.as_str()), ("last-event-id", wrong)];
        assert_eq!(served.send_with("GET", &events, &forged, "").error(), "bad_request", "{wrong}");
    }
    served.say(&session, "still there?");
    served.follow(&session, 0).records_to("RunEnded");
}

// proves W3: a body over the limit is refused, not stored
#[test]
fn a_body_over_the_limit_is_refused() {
    let bench = Bench::new(Script::default());
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let huge = json!({"text": "x".repeat(33 * 1024 * 1024)}).to_string();
    let refused = served.send("POST", &format!("/api/sessions/{session}/messages"), &huge);
    assert_eq!((refused.status, refused.error().as_str()), (413, "too_large"));
}
