//! Tests of the handshake against scripted servers.

use std::sync::Arc;

use rmcp::model::{ClientCapabilities, Implementation};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::*;
use crate::stdio::LineTransport;

/// The other end of a pipe: reads requests and sends scripted answers.
struct ScriptedPeer {
    asked: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
}

impl ScriptedPeer {
    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.asked.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// Reads everything until the end.
    async fn hear_out(&mut self) {
        while let Ok(Some(_)) = self.asked.next_line().await {}
    }

    async fn say(&mut self, message: Value) {
        self.out.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, question: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
    }

    async fn refuse(&mut self, question: &Value, code: i32, data: Value) {
        let error = json!({"code": code, "message": "no", "data": data});
        self.say(json!({"jsonrpc": "2.0", "id": question["id"], "error": error})).await;
    }
}

fn initialized(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}})
}

fn discovered(versions: &[&str]) -> Value {
    json!({"resultType": "complete", "supportedVersions": versions, "capabilities": {}, "ttlMs": 0, "cacheScope": "private"})
}

fn probe() -> Approach {
    Approach::Probe { silence: Duration::from_secs(6), until: Instant::now() + Duration::from_secs(18) }
}

/// Does the handshake with a server that follows `script`.
async fn shaken<F: Future<Output = ()> + Send + 'static>(
    approach: Approach,
    script: impl FnOnce(ScriptedPeer) -> F,
) -> Result<(Era, String), NoHandshake> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let ((output, input), (asked, out)) = (tokio::io::split(ours), tokio::io::split(theirs));
    let mut transport = LineTransport::new(output, input, 1 << 20, Arc::new(|_| {}));
    let script = tokio::spawn(script(ScriptedPeer { asked: BufReader::new(asked).lines(), out }));
    let about = ClientConfig::new(ClientCapabilities::default(), Implementation::new("w", "1"));
    let introduction = Introduction { about, root: Some("file:///w/".into()) };
    let shaken = shake(&mut transport, &introduction, approach).await;
    drop(transport);
    // Propagate failed assertions of the script.
    script.await.unwrap();
    let (era, info) = shaken?;
    Ok((era, info.protocol_version.to_string()))
}

fn is(known: &Result<(Era, String), NoHandshake>, era: Era, revision: &str) -> bool {
    matches!(known, Ok((got, version)) if *got == era && version == revision)
}

// proves P1
#[tokio::test(start_paused = true)]
async fn every_revision_is_spoken() {
    let modern = shaken(probe(), async |mut server: ScriptedPeer| {
        let question = server.next().await;
        assert_eq!(question["method"], "server/discover");
        server.answer(&question, discovered(&["2026-07-28"])).await;
    });
    assert!(is(&modern.await, Era::Modern, "2026-07-28"));
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let legacy = shaken(probe(), move |mut server: ScriptedPeer| async move {
            let question = server.next().await;
            server.refuse(&question, -32601, Value::Null).await;
            let question = server.next().await;
            assert_eq!(
                (&question["method"], &question["params"]["protocolVersion"]),
                (&json!("initialize"), &json!("2025-11-25"))
            );
            server.answer(&question, initialized(version)).await;
            assert_eq!(server.next().await["method"], "notifications/initialized");
        });
        assert!(is(&legacy.await, Era::Legacy, version), "{version}");
    }
}

// proves P1, P2
#[tokio::test(start_paused = true)]
async fn a_legacy_server_that_takes_eleven_seconds_to_start_works() {
    let known = shaken(probe(), async |mut server: ScriptedPeer| {
        tokio::time::sleep(Duration::from_secs(11)).await;
        let (first, second) = (server.next().await, server.next().await);
        assert_eq!(second["method"], "initialize");
        server.refuse(&first, -32601, Value::Null).await;
        server.answer(&second, initialized("2025-06-18")).await;
        server.next().await;
    });
    assert!(is(&known.await, Era::Legacy, "2025-06-18"));
}

// proves P1
#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_the_probe_is_asked_the_old_way() {
    let known = shaken(probe(), async |mut server: ScriptedPeer| {
        server.next().await;
        let second = server.next().await;
        server.answer(&second, initialized("2024-11-05")).await;
        server.next().await;
    });
    assert!(is(&known.await, Era::Legacy, "2024-11-05"));
}

// proves P1
#[tokio::test(start_paused = true)]
async fn a_modern_server_that_was_slow_is_to_be_asked_anew() {
    let known = shaken(probe(), async |mut server: ScriptedPeer| {
        let (first, second) = (server.next().await, server.next().await);
        server.answer(&first, discovered(&["2026-07-28"])).await;
        server.refuse(&second, -32601, Value::Null).await;
        server.hear_out().await;
    });
    assert!(matches!(known.await, Err(NoHandshake::LateModern)));
}

// proves P4
#[tokio::test(start_paused = true)]
async fn whoever_asks_back_first_is_answered() {
    let known = shaken(Approach::As(Era::Legacy), async |mut server: ScriptedPeer| {
        let question = server.next().await;
        for (id, method, want) in [
            (1, "ping", "result"),
            (2, "roots/list", "result"),
            (3, "elicitation/create", "result"),
            (4, "sampling/createMessage", "error"),
            (5, "made/up", "error"),
        ] {
            let params = match method {
                "elicitation/create" => {
                    json!({"message": "?", "requestedSchema": {"type": "object", "properties": {}}})
                }
                "sampling/createMessage" => json!({"messages": [], "maxTokens": 1}),
                _ => json!({}),
            };
            server.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
            let answer = server.next().await;
            assert!(answer["id"] == id && answer.get(want).is_some(), "{method}: {answer}");
        }
        server.answer(&question, initialized("2025-06-18")).await;
        server.next().await;
    });
    assert!(is(&known.await, Era::Legacy, "2025-06-18"));
}

// proves P4
#[tokio::test(start_paused = true)]
async fn answers_to_other_questions_are_left_alone() {
    let known = shaken(Approach::As(Era::Legacy), async |mut server: ScriptedPeer| {
        let question = server.next().await;
        server.say(json!({"jsonrpc": "2.0", "id": 17, "result": initialized("1999-01-01")})).await;
        server
            .say(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}))
            .await;
        let id = question["id"].to_string();
        server.say(json!({"jsonrpc": "2.0", "id": id, "result": initialized("2025-06-18")})).await;
        server.answer(&question, initialized("1999-01-01")).await;
        server.next().await;
    });
    assert!(is(&known.await, Era::Legacy, "2025-06-18"));
}

// proves P1
#[tokio::test(start_paused = true)]
async fn what_can_not_be_spoken_is_refused() {
    let unknown = shaken(Approach::As(Era::Legacy), async |mut server: ScriptedPeer| {
        let question = server.next().await;
        server.answer(&question, initialized("1999-01-01")).await;
        server.hear_out().await;
    });
    assert!(matches!(unknown.await, Err(NoHandshake::Revision(version)) if version == "1999-01-01"));
    let older = shaken(probe(), async |mut server: ScriptedPeer| {
        let question = server.next().await;
        server.refuse(&question, -32022, json!({"supported": ["2024-11-05"], "requested": "2026-07-28"})).await;
        let question = server.next().await;
        assert_eq!(question["params"]["protocolVersion"], "2024-11-05");
        server.answer(&question, initialized("2024-11-05")).await;
        server.next().await;
    });
    assert!(is(&older.await, Era::Legacy, "2024-11-05"));
    let gone = shaken(probe(), async |mut server: ScriptedPeer| {
        server.next().await;
    });
    assert!(matches!(gone.await, Err(NoHandshake::Closed)));
    let silent = shaken(probe(), async |mut server: ScriptedPeer| server.hear_out().await);
    assert!(matches!(silent.await, Err(NoHandshake::Silent)));
}
