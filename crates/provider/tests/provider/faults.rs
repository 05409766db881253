//! Faults of a server, on every wire: what each means for the run.

use std::sync::Arc;

use tokio::sync::Notify;
use windlass_provider::Sink;
use windlass_vocab::{Failure, FailureClass};

use super::network::{STREAMED, answer, call, chunk, ignore, streaming_head};
use super::server::{Act, Server};
use super::wires::{WIRES, WireSample};

fn events(parts: &[&str]) -> Act {
    let bytes: Vec<Vec<u8>> = std::iter::once(streaming_head()).chain(parts.iter().map(|part| chunk(part))).collect();
    Act::SayAndClose([bytes.concat(), b"0\r\n\r\n".to_vec()].concat())
}

fn rejected(status: &str, headers: &str) -> Act {
    let body = r#"{"type":"error","error":{"type":"api_error","message":"Something went wrong"}}"#;
    Act::Say(vec![answer(status, &format!("content-type: application/json\r\n{headers}"), body)])
}

/// Performs `act`; asserts the class of the failure, and whether a part of the reply had arrived.
async fn check(wire: &WireSample, act: Act, expected: (FailureClass, bool)) -> Failure {
    let server = Server::start(vec![act]).await;
    let failure = call(&wire.model(&server.base_url()), &STREAMED, ignore()).await.unwrap_err();
    assert_eq!((failure.class, failure.first_byte), expected, "{}: {failure}", wire.path);
    failure
}

// proves M3
#[tokio::test]
async fn a_status_says_whether_to_try_again_and_when() {
    let date = "date: Wed, 31 Dec 2025 23:59:50 GMT\r\n";
    for wire in &WIRES {
        for (status, headers, class, wait) in [
            ("429 Too Many Requests", String::new(), FailureClass::Transient, None),
            ("429 Too Many Requests", "retry-after: 3\r\n".into(), FailureClass::Transient, Some(3_000)),
            (
                "429 Too Many Requests",
                format!("{date}retry-after: Thu, 01 Jan 2026 00:00:00 GMT\r\n"),
                FailureClass::Transient,
                Some(10_000),
            ),
            ("500 Internal Server Error", String::new(), FailureClass::Transient, None),
            ("529 Overloaded", String::new(), FailureClass::Transient, None),
            ("401 Unauthorized", String::new(), FailureClass::Auth, None),
            ("403 Forbidden", String::new(), FailureClass::Auth, None),
            ("400 Bad Request", String::new(), FailureClass::BadRequest, None),
            ("413 Content Too Large", String::new(), FailureClass::Overflow, None),
        ] {
            let failure = check(wire, rejected(status, &headers), (class, false)).await;
            assert_eq!(failure.retry_after_ms, wait, "{} {status} {headers}", wire.path);
        }
    }
}

// proves M3
#[tokio::test]
async fn a_limit_that_is_used_up_says_when_it_is_restored() {
    let headers = "date: Wed, 31 Dec 2025 23:59:50 GMT\r\n\
                   anthropic-ratelimit-requests-remaining: 7\r\n\
                   anthropic-ratelimit-requests-reset: 2026-01-01T01:00:00Z\r\n\
                   anthropic-ratelimit-input-tokens-remaining: 0\r\n\
                   anthropic-ratelimit-input-tokens-reset: 2026-01-01T00:00:20Z\r\n";
    for wire in &WIRES {
        let failure = check(wire, rejected("429 Too Many Requests", headers), (FailureClass::Transient, false)).await;
        assert_eq!(failure.retry_after_ms, Some(30_000), "{}", wire.path);
    }
}

// proves M4
#[tokio::test]
async fn a_connection_that_is_lost_is_passing_before_and_after_the_first_word() {
    for wire in &WIRES {
        check(wire, Act::SayAndClose(streaming_head()), (FailureClass::Transient, false)).await;
        check(wire, Act::SayAndClose([streaming_head(), chunk(wire.text)].concat()), (FailureClass::Transient, true))
            .await;
        let arrived = Arc::new(Notify::new());
        let act = Act::SayAndReset([streaming_head(), chunk(wire.text)].concat(), arrived.clone());
        let server = Server::start(vec![act]).await;
        let sink: Sink = Box::new(move |_| arrived.notify_one());
        let failure = call(&wire.model(&server.base_url()), &STREAMED, sink).await.unwrap_err();
        assert_eq!((failure.class, failure.first_byte), (FailureClass::Transient, true), "{failure}");
    }
}

// proves M4
#[tokio::test]
async fn a_stream_that_ends_in_the_middle_is_no_answer() {
    for wire in &WIRES {
        check(wire, events(&[]), (FailureClass::Transient, false)).await;
        check(wire, events(&[wire.text]), (FailureClass::Transient, true)).await;
        let half_an_event = &wire.end[..wire.end.find('}').unwrap()];
        check(wire, events(&[wire.text, half_an_event]), (FailureClass::Transient, true)).await;
        check(wire, events(&[": ping\n\n"]), (FailureClass::Transient, false)).await;
    }
}

// proves M3, M4
#[tokio::test]
async fn an_error_inside_a_stream_is_classified() {
    for wire in &WIRES {
        check(wire, events(&[wire.overload]), (FailureClass::Transient, false)).await;
        let failure = check(wire, events(&[wire.text, wire.overload]), (FailureClass::Transient, true)).await;
        assert!(failure.message.contains("Overloaded"), "{failure}");
        let event = |kind: &str, message: &str| {
            let error = serde_json::json!({"type": "error", "error": {"type": kind, "message": message}});
            format!("event: error\ndata: {error}\n\n")
        };
        for (kind, message, class) in [
            ("rate_limit_error", "Too fast", FailureClass::Transient),
            ("api_error", "Internal server error", FailureClass::Transient),
            ("invalid_request_error", "Your credit balance is too low to access the API", FailureClass::Quota),
            ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", FailureClass::Overflow),
            ("authentication_error", "invalid x-api-key", FailureClass::Auth),
            ("permission_error", "Not yours", FailureClass::Auth),
        ] {
            check(wire, events(&[&event(kind, message)]), (class, false)).await;
        }
    }
}

#[tokio::test]
async fn an_answer_of_something_else_is_known_for_what_it_is() {
    for wire in &WIRES {
        let page = answer("200 OK", "content-type: text/html\r\n", "<html><p>Welcome</html>");
        check(wire, Act::Say(vec![page]), (FailureClass::Protocol, false)).await;
        let json = answer("200 OK", "content-type: application/json\r\n", r#"{"hello":"world"}"#);
        check(wire, Act::Say(vec![json]), (FailureClass::Protocol, false)).await;
        let half = answer("200 OK", "content-type: application/json\r\n", &wire.whole[..wire.whole.len() / 2]);
        check(wire, Act::Say(vec![half]), (FailureClass::Transient, false)).await;
        check(wire, events(&["data: {\"hello\":\"world\"}\n\n"]), (FailureClass::Protocol, false)).await;
        check(wire, events(&["data: hello\n\n"]), (FailureClass::Protocol, false)).await;
    }
}

// proves M4
#[tokio::test]
async fn the_content_type_does_not_decide_how_an_answer_is_read() {
    for wire in &WIRES {
        let whole = answer("200 OK", "content-type: text/event-stream\r\n", wire.whole);
        let streamed = answer("200 OK", "content-type: application/json\r\n", &[wire.text, wire.end].concat());
        let server = Server::start(vec![Act::Say(vec![whole]), Act::Say(vec![streamed])]).await;
        let model = wire.model(&server.base_url());
        for _ in 0..2 {
            assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi", "{}", wire.path);
        }
    }
}

// proves M4: reasoning extends the limit on silence
#[tokio::test]
async fn a_model_in_the_middle_of_a_thought_may_be_silent_for_longer() {
    use super::network::idle;
    for wire in &WIRES {
        let said = [streaming_head(), chunk(wire.thought)].concat();
        let server = Server::start(vec![Act::SayAndHang(said)]).await;
        let failure = call(&wire.model(&server.base_url()), &idle(20_000, 30), ignore()).await.unwrap_err();
        assert!(failure.message.ends_with("said nothing for 0.09 s."), "{}: {failure}", wire.path);
    }
}
