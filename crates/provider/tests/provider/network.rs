//! The model over a real connection, with a server that misbehaves on demand.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use windlass_provider::{
    Delivery, HttpClient, HttpConfig, HttpError, HttpModel, Model, ModelConfig, ModelConfigError, ModelRequest, Piece,
    Secret, Segments, Sink,
};
use windlass_vocab::{
    Failure, FailureClass, MaxTokens, Message, ModelName, PinnedContext, Reasoning, Reply, StreamIdle, TurnMode,
};

use super::server::{Act, Server};
use super::wires::WIRES;

fn http() -> HttpClient {
    HttpClient::new(HttpConfig::default()).unwrap()
}

pub(crate) fn model(base_url: &str) -> HttpModel {
    HttpModel::new(config(base_url), &http()).unwrap()
}

fn config(base_url: &str) -> ModelConfig {
    ModelConfig { api_key: Some(Secret::new("sk-secret\n")), ..ModelConfig::chat(base_url, "m") }
}

/// The options of a call.
pub(crate) struct Ask {
    delivery: Delivery,
    idle: StreamIdle,
}

pub(crate) const STREAMED: Ask =
    Ask { delivery: Delivery::Streamed, idle: StreamIdle { first_ms: 20_000, next_ms: 20_000 } };

/// Returns a streamed call with these limits on silence, in milliseconds.
pub(crate) fn idle(first_ms: u64, next_ms: u64) -> Ask {
    Ask { idle: StreamIdle { first_ms, next_ms }, ..STREAMED }
}

pub(crate) async fn call(model: &HttpModel, ask: &Ask, sink: Sink) -> Result<Reply, Failure> {
    call_saying("hello", model, ask, sink).await
}

async fn call_saying(words: &str, model: &HttpModel, ask: &Ask, sink: Sink) -> Result<Reply, Failure> {
    let context = PinnedContext { prefix: "sys".into(), offer: vec![], ..PinnedContext::default() };
    let history = [Message::user(words)];
    let name = ModelName::from("a model");
    let request = ModelRequest {
        model: &name,
        context: &context,
        history: &history,
        cache_key: "",
        epoch: 0,
        tail: "tail",
        mode: TurnMode::Talk,
        delivery: ask.delivery,
        temperature_milli: None,
        max_tokens: MaxTokens::ModelOwn,
        reasoning: Reasoning::ModelOwn,
        idle: ask.idle,
        output: None,
        output_form: windlass_vocab::OutputForm::Schema,
        stop: &[],
    };
    model.attempt(&request, &mut Segments::default(), sink).await
}

pub(crate) fn ignore() -> Sink {
    Box::new(|_| {})
}

pub(crate) const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
pub(crate) const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

pub(crate) fn head(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}\r\n")
}

/// A complete HTTP answer with its length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("{}{body}", head(status, &format!("{headers}content-length: {}\r\n", body.len()))).into()
}

pub(crate) fn chunk(body: &str) -> Vec<u8> {
    format!("{:x}\r\n{body}\r\n", body.len()).into()
}

pub(crate) fn streaming_head() -> Vec<u8> {
    head("200 OK", "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n").into()
}

/// Sends this, then sends `drop` again and again.
fn drip(first: Vec<u8>, drop: &str) -> Act {
    Act::Drip { first, drop: chunk(drop), drops: usize::MAX, last: vec![] }
}

// proves M4
#[tokio::test]
async fn a_stream_arrives_in_pieces_and_its_connection_is_used_again() {
    for wire in &WIRES {
        let stream = || Act::Say(vec![streaming_head(), chunk(wire.text), chunk(wire.end), b"0\r\n\r\n".to_vec()]);
        let mut server = Server::start(vec![stream(), stream()]).await;
        let model = wire.model(&server.base_url());
        for _ in 0..2 {
            let pieces = Arc::new(Mutex::new(String::new()));
            let kept = pieces.clone();
            let sink: Sink = Box::new(move |piece| {
                if let Piece::Text(text) = piece {
                    kept.lock().unwrap().push_str(text);
                }
            });
            let reply = call(&model, &STREAMED, sink).await.unwrap();
            assert_eq!((reply.text().as_str(), pieces.lock().unwrap().as_str()), ("Hi", "Hi"));
            let request = server.requests.recv().await.unwrap();
            assert!(request.starts_with(&format!("POST {} HTTP/1.1\r\n", wire.path)), "{request}");
            assert!(request.contains(wire.key_line), "{request}");
            let body = request.split_once("\r\n\r\n").unwrap().1;
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(body.pointer(wire.reminder).unwrap(), "<reminder>\ntail\n</reminder>");
        }
        assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    }
}

// proves M1: OpenAI gives summaries of the reasoning only to organizations that it has verified
#[tokio::test]
async fn a_refused_summary_of_the_reasoning_is_not_asked_for_again() {
    let refusal = r#"{"error":{"message":"Your organization must be verified to generate reasoning summaries.",
        "type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}"#;
    let whole = r#"{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}"#;
    let say = |status: &str, body: &str| Act::Say(vec![answer(status, "content-type: application/json\r\n", body)]);
    let acts = vec![say("400 Bad Request", refusal), say("200 OK", whole), say("200 OK", whole)];
    let mut server = Server::start(acts).await;
    let config = ModelConfig::responses(server.base_url(), "gpt-5");
    let model = HttpModel::new(config, &http()).unwrap();
    for _ in 0..2 {
        assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
    }
    let mut asked = Vec::new();
    for _ in 0..3 {
        let request = server.requests.recv().await.unwrap();
        let body: serde_json::Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["input"].as_array().unwrap().len(), 2);
        asked.push(body["reasoning"]["summary"].as_str().map(str::to_owned));
    }
    assert_eq!(asked, [Some("auto".to_owned()), None, None]);
}

// proves M3: another refusal is a failure at once, and the summary is asked for again
#[tokio::test]
async fn a_request_is_sent_once_where_something_else_is_refused() {
    let refusal = r#"{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","param":"input"}}"#;
    let refused = || Act::Say(vec![answer("400 Bad Request", "content-type: application/json\r\n", refusal)]);
    let mut server = Server::start(vec![refused(), refused()]).await;
    let model = HttpModel::new(ModelConfig::responses(server.base_url(), "gpt-5"), &http()).unwrap();
    for _ in 0..2 {
        assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap_err().class, FailureClass::BadRequest);
        let request = server.requests.recv().await.unwrap();
        assert!(request.contains(r#""summary":"auto""#), "{request}");
    }
}

#[tokio::test]
async fn a_connection_the_server_closed_while_nobody_used_it_costs_nothing() {
    let body = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    let read = Arc::new(Notify::new());
    let closing = || Act::SayAndCloseLater(answer("200 OK", "", body), read.clone());
    let mut server = Server::start(vec![closing(), closing(), closing()]).await;
    let model = model(&server.base_url());
    for _ in 0..3 {
        assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
        read.notify_one();
        server.closed.recv().await.unwrap();
        // The runtime polls its sockets before it resumes this task.
        tokio::task::yield_now().await;
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn models_of_one_server_share_its_connections() {
    let stream = || Act::Say(vec![streaming_head(), chunk(TEXT), chunk(END), b"0\r\n\r\n".to_vec()]);
    let server = Server::start(vec![stream(), stream()]).await;
    let http = http();
    for name in ["one", "other"] {
        let config = ModelConfig::chat(server.base_url(), name);
        let model = HttpModel::new(config, &http).unwrap();
        assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_request_given_up_in_mid_stream_takes_its_connection_with_it() {
    for wire in &WIRES {
        let half = Act::SayAndHang([streaming_head(), chunk(wire.text)].concat());
        let whole = Act::Say(vec![streaming_head(), chunk(wire.text), chunk(wire.end), b"0\r\n\r\n".to_vec()]);
        let server = Server::start(vec![half, whole]).await;
        let model = wire.model(&server.base_url());
        let begun = Arc::new(Notify::new());
        let told = begun.clone();
        let sink: Sink = Box::new(move |_| told.notify_one());
        tokio::select! {
            ended = call(&model, &STREAMED, sink) => panic!("{ended:?}"),
            () = begun.notified() => {}
        }
        assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
        assert_eq!(server.connections.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn a_whole_answer_is_read_in_either_form() {
    for wire in &WIRES {
        let whole = || Act::Say(vec![answer("200 OK", "content-type: application/json\r\n", wire.whole)]);
        let events = Act::SayAndClose(format!("{}{}{}", head("200 OK", ""), wire.text, wire.end).into());
        let server = Server::start(vec![whole(), whole(), events]).await;
        let model = wire.model(&server.base_url());
        let asked_whole = Ask { delivery: Delivery::Whole, ..STREAMED };
        for ask in [&asked_whole, &STREAMED, &asked_whole] {
            assert_eq!(call(&model, ask, ignore()).await.unwrap().text(), "Hi");
        }
    }
}

// proves M3
#[tokio::test]
async fn a_dead_server_is_named_and_may_come_back() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let failure = call(&model(&url), &STREAMED, ignore()).await.unwrap_err();
    assert_eq!((failure.class, failure.not_running), (FailureClass::Transient, true));
    let expected = format!("Nothing listens at {url}.");
    assert_eq!(failure.message, expected);
}

#[tokio::test]
async fn an_unknown_host_is_named() {
    // A label this long is not a valid name, so no DNS request is made.
    let url = format!("http://{}.invalid/v1", "x".repeat(64));
    let failure = call(&model(&url), &STREAMED, ignore()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
    assert!(failure.message.contains(&format!("The host of {url} is not known")), "{failure}");
}

#[tokio::test]
async fn tls_where_there_is_none_is_told_and_does_not_panic() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut Vec::new()).await.ok();
    });
    let failure = call(&model(&url), &STREAMED, ignore()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Protocol, "{failure}");
    assert!(failure.message.contains("does not speak TLS there"), "{failure}");
}

// proves M4
#[tokio::test]
async fn a_reset_in_mid_stream_is_passing_and_says_that_words_had_come() {
    for wire in &WIRES {
        let arrived = Arc::new(Notify::new());
        let bytes = [streaming_head(), chunk(wire.text)].concat();
        let server = Server::start(vec![Act::SayAndReset(bytes, arrived.clone())]).await;
        let sink: Sink = Box::new(move |_| arrived.notify_one());
        let failure = call(&wire.model(&server.base_url()), &STREAMED, sink).await.unwrap_err();
        assert_eq!((failure.class, failure.first_byte), (FailureClass::Transient, true));
        assert!(failure.message.contains("broke the connection"), "{failure}");
    }
}

// proves M4
#[tokio::test]
async fn half_a_stream_is_passing_and_a_whole_one_is_not_lost_by_a_bad_end() {
    for wire in &WIRES {
        let half = [streaming_head(), chunk(wire.text)].concat();
        let Some(finished) = wire.finished else { continue };
        let whole = [streaming_head(), chunk(wire.text), chunk(finished)].concat();
        let server = Server::start(vec![Act::SayAndClose(half), Act::SayAndClose(whole)]).await;
        let model = wire.model(&server.base_url());
        let failure = call(&model, &STREAMED, ignore()).await.unwrap_err();
        assert_eq!((failure.class, failure.first_byte), (FailureClass::Transient, true), "{failure}");
        assert_eq!(call(&model, &STREAMED, ignore()).await.unwrap().text(), "Hi");
    }
}

// proves M4
#[tokio::test]
async fn silence_is_passing_before_and_after_the_first_word() {
    for wire in &WIRES {
        for (said, idle, first_byte) in [
            (vec![], StreamIdle { first_ms: 30, next_ms: 20_000 }, false),
            (streaming_head(), StreamIdle { first_ms: 30, next_ms: 20_000 }, false),
            ([streaming_head(), chunk(wire.text)].concat(), StreamIdle { first_ms: 20_000, next_ms: 30 }, true),
        ] {
            let server = Server::start(vec![Act::SayAndHang(said)]).await;
            let ask = Ask { idle, ..STREAMED };
            let failure = call(&wire.model(&server.base_url()), &ask, ignore()).await.unwrap_err();
            assert_eq!((failure.class, failure.first_byte), (FailureClass::Transient, first_byte));
            assert_eq!(failure.message, format!("The server at {} said nothing for 0.03 s.", server.base_url()));
        }
    }
}

// proves M4: a server on this machine may take longer to read a long request
#[tokio::test]
async fn a_long_request_may_be_read_for_longer() {
    let server = Server::start(vec![Act::SayAndHang(streaming_head())]).await;
    let words = "x".repeat(8 << 10);
    let failure = call_saying(&words, &model(&server.base_url()), &idle(30, 20_000), ignore()).await.unwrap_err();
    let (_, waited) = failure.message.rsplit_once("said nothing for ").unwrap();
    let seconds: f64 = waited.trim_end_matches(" s.").parse().unwrap();
    // The rest of the body is between 20 and 500 bytes, of which a second covers 100.
    assert!((0.23..5.03).contains(&seconds), "{failure}");
}

// proves M4: while a model reasons, and before that if the table or its name marks it as a reasoning model
#[tokio::test]
async fn a_model_that_thinks_may_be_silent_for_longer() {
    let thought = chunk(&TEXT.replace("content", "reasoning_content"));
    for (name, said, idle) in [
        ("m", [streaming_head(), thought.clone()].concat(), StreamIdle { first_ms: 20_000, next_ms: 30 }),
        ("lab/O3-mini", streaming_head(), StreamIdle { first_ms: 30, next_ms: 20_000 }),
        ("some-Thinking-7b", vec![], StreamIdle { first_ms: 30, next_ms: 20_000 }),
    ] {
        let server = Server::start(vec![Act::SayAndHang(said)]).await;
        let model = HttpModel::new(ModelConfig::chat(server.base_url(), name), &http()).unwrap();
        let failure = call(&model, &Ask { idle, ..STREAMED }, ignore()).await.unwrap_err();
        assert!(failure.message.ends_with("said nothing for 0.09 s."), "{name}: {failure}");
    }
    // Once it answers, the usual limits apply.
    let said = [streaming_head(), thought, chunk(TEXT)].concat();
    let server = Server::start(vec![Act::SayAndHang(said)]).await;
    let ask = Ask { idle: StreamIdle { first_ms: 20_000, next_ms: 30 }, ..STREAMED };
    let failure = call(&model(&server.base_url()), &ask, ignore()).await.unwrap_err();
    assert!(failure.message.ends_with("said nothing for 0.03 s."), "{failure}");
}

// proves M4
#[tokio::test]
async fn comments_keep_a_call_alive_for_a_while_and_not_for_ever() {
    for wire in &WIRES {
        for (said, piece) in [(streaming_head(), false), ([streaming_head(), chunk(wire.text)].concat(), true)] {
            let server = Server::start(vec![drip(said, ": ping\n\n")]).await;
            // The same limit for silence as for comments, so that only the overall limit can end the call.
            let config = ModelConfig { keep_alive_ms: 100, ..wire.config(&server.base_url()) };
            let ask = Ask { idle: StreamIdle { first_ms: 100, next_ms: 100 }, ..STREAMED };
            let model = HttpModel::new(config, &http()).unwrap();
            let failure = call(&model, &ask, ignore()).await.unwrap_err();
            assert_eq!((failure.class, failure.first_byte), (FailureClass::Transient, piece));
            assert!(failure.message.contains("sent nothing of a reply for 0.1 s."), "{failure}");
        }
        // Comments are not silence: their limit is longer.
        let last = [chunk(wire.text), chunk(wire.end)].concat();
        let late = Act::Drip { first: streaming_head(), drop: chunk(": ping\n\n"), drops: 150, last };
        let server = Server::start(vec![late]).await;
        let ask = Ask { idle: StreamIdle { first_ms: 500, next_ms: 20_000 }, ..STREAMED };
        assert_eq!(call(&wire.model(&server.base_url()), &ask, ignore()).await.unwrap().text(), "Hi");
    }
}

// proves M4
#[tokio::test]
async fn comments_after_a_whole_reply_do_not_hold_it_up() {
    for wire in &WIRES {
        let Some(finished) = wire.finished else { continue };
        let whole = [streaming_head(), chunk(wire.text), chunk(finished)].concat();
        let server = Server::start(vec![drip(whole, ": ping\n\n")]).await;
        let ask = Ask { idle: StreamIdle { first_ms: 20_000, next_ms: 100 }, ..STREAMED };
        assert_eq!(call(&wire.model(&server.base_url()), &ask, ignore()).await.unwrap().text(), "Hi");
    }
}

// proves M3
#[tokio::test]
async fn a_rejection_that_never_ends_is_read_as_far_as_it_came() {
    for wire in &WIRES {
        let head = head("503 Service Unavailable", "transfer-encoding: chunked\r\n");
        let said = [head.into_bytes(), chunk("overloaded")].concat();
        let server = Server::start(vec![drip(said, ".")]).await;
        let ask = Ask { idle: StreamIdle { first_ms: 200, next_ms: 200 }, ..STREAMED };
        let failure = call(&wire.model(&server.base_url()), &ask, ignore()).await.unwrap_err();
        assert_eq!((failure.class, failure.status), (FailureClass::Transient, Some(503)));
        assert!(failure.message.contains("overloaded"), "{failure}");
    }
}

#[tokio::test]
async fn a_closing_mark_ends_the_call_even_when_the_connection_stays_open() {
    for wire in &WIRES {
        let bytes = [streaming_head(), chunk(wire.text), chunk(wire.end)].concat();
        let server = Server::start(vec![Act::SayAndHang(bytes)]).await;
        assert_eq!(call(&wire.model(&server.base_url()), &STREAMED, ignore()).await.unwrap().text(), "Hi");
    }
}

#[tokio::test]
async fn html_is_known_for_what_it_is() {
    for wire in &WIRES {
        let page = Act::Say(vec![answer("200 OK", "content-type: text/html\r\n", "\n<!DOCTYPE html><p>Welcome")]);
        let server = Server::start(vec![page]).await;
        let failure = call(&wire.model(&server.base_url()), &STREAMED, ignore()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Protocol);
        assert!(failure.message.contains("answered with a web page, not with the API"), "{failure}");
    }
}

#[tokio::test]
async fn something_that_is_not_http_is_told() {
    let server = Server::start(vec![Act::SayAndClose(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec())]).await;
    let failure = call(&model(&server.base_url()), &STREAMED, ignore()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Protocol, "{failure}");
    assert!(failure.message.contains("does not speak HTTP there"), "{failure}");
}

// proves M3
#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    for wire in &WIRES {
        let body = r#"{"error":{"message":"Rate limit reached"}}"#;
        let later = "date: Wed, 31 Dec 2025 23:59:50 GMT\r\nretry-after: Thu, 01 Jan 2026 00:00:00 GMT\r\n";
        let acts = ["retry-after: 7\r\n", "retry-after-ms: 250\r\n", later]
            .map(|headers| Act::Say(vec![answer("429 Too Many Requests", headers, body)]));
        let server = Server::start(acts.to_vec()).await;
        let model = wire.model(&server.base_url());
        for wait in [7_000, 250, 10_000] {
            let failure = call(&model, &STREAMED, ignore()).await.unwrap_err();
            assert_eq!(
                (failure.class, failure.status, failure.retry_after_ms),
                (FailureClass::Transient, Some(429), Some(wait))
            );
        }
    }
}

#[tokio::test]
async fn a_line_without_end_is_given_up_at_the_cap() {
    for wire in &WIRES {
        let limit = 200 << 20;
        let mut server = Server::start(vec![Act::Flood { limit }]).await;
        let failure = call(&wire.model(&server.base_url()), &STREAMED, ignore()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Protocol);
        assert!(failure.message.contains("longer than any reply should be"), "{failure}");
        // The bytes read are the cap and the socket buffers, far from all of it.
        let taken = server.flooded.recv().await.unwrap();
        assert!(taken < 40 << 20, "{taken} bytes were taken");
    }
}

// proves X1
#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_home() {
    let mut elsewhere = Server::start(vec![Act::Say(vec![])]).await;
    let location = format!("location: {}/chat/completions\r\n", elsewhere.base_url());
    let server = Server::start(vec![Act::Say(vec![answer("307 Temporary Redirect", &location, "")])]).await;
    let failure = call(&model(&server.base_url()), &STREAMED, ignore()).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Protocol);
    assert!(failure.message.contains("that is not followed"), "{failure}");
    assert!(elsewhere.requests.try_recv().is_err());
    assert_eq!(elsewhere.connections.load(Ordering::SeqCst), 0);
}

#[test]
fn settings_that_make_no_sense_are_refused_with_the_form_to_use() {
    for url in ["localhost:8080/v1", "", "/v1", "ftp://host/v1", "http://"] {
        let error = HttpModel::new(ModelConfig::chat(url, "m"), &http()).unwrap_err();
        assert!(matches!(error, ModelConfigError::BaseUrl(_)), "{url}: {error}");
        assert!(error.to_string().contains("one is written like http://localhost:11434/v1"));
    }
    let key = Some(Secret::new("sk-\nsecret"));
    let error = HttpModel::new(ModelConfig { api_key: key, ..config("http://h/v1") }, &http()).unwrap_err();
    assert!(matches!(error, ModelConfigError::Key), "{error}");
    let proxy = HttpConfig { proxy: Some("::".into()), ..HttpConfig::default() };
    assert!(matches!(HttpClient::new(proxy), Err(HttpError::Proxy { .. })));
}

#[tokio::test]
async fn credentials_in_the_base_url_are_not_shown() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure =
        call(&model(&format!("http://user:pass@{address}/v1/?key=abc")), &STREAMED, ignore()).await.unwrap_err();
    assert_eq!(failure.message, format!("Nothing listens at http://{address}/v1."));
}
