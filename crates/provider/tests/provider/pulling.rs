//! A model is downloaded by Ollama: its steps, however the bytes are split, and every way in which that fails.

use windlass_provider::server_kind::ServerKind;
use windlass_provider::{HttpClient, HttpConfig, ModelConfig, PullError, PullStep, PulledLayer, pull_model};

use crate::server::{Act, Server};

const STEPS: &str = concat!(
    r#"{"status":"pulling manifest"}"#,
    "\n",
    r#"{"status":"pulling 6f48b936a09f","digest":"sha256:6f48","total":4000,"completed":1000}"#,
    "\r\n",
    r#"{"status":"pulling 6f48b936a09f","digest":"sha256:6f48","total":4000,"completed":9000}"#,
    "\n\n",
    r#"{"status":"verifying sha256 digest"}"#,
    "\n",
    r#"{"status":"success"}"#,
);

fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).into_bytes()
}

async fn pulled(act: Act) -> (Result<(), PullError>, Vec<PullStep>, Server) {
    let server = Server::start(vec![act]).await;
    let config = ModelConfig::of(ServerKind::Ollama, server.base_url(), "qwen3:4b");
    let http = HttpClient::new(HttpConfig::default()).unwrap();
    let mut steps = Vec::new();
    let result = pull_model(&config, &http, |step| steps.push(step)).await;
    (result, steps, server)
}

// proves M8: each step is shown once, wherever the bytes are cut
#[tokio::test]
async fn steps_are_read_wherever_the_bytes_are_split() {
    let whole = answer("200 OK", STEPS);
    let body = whole.len() - STEPS.len();
    for split in [body + 1, body + 40, body + 130, whole.len() - 1] {
        let (first, rest) = whole.split_at(split);
        let (result, steps, mut server) = pulled(Act::Say(vec![first.to_vec(), rest.to_vec()])).await;
        assert!(result.is_ok(), "{result:?}");
        let layer = |completed| Some(PulledLayer { digest: "sha256:6f48".into(), total: 4000, completed });
        let seen: Vec<_> = steps.iter().map(|step| (step.status.as_str(), step.layer.clone())).collect();
        assert_eq!(
            seen,
            [
                ("pulling manifest", None),
                ("pulling 6f48b936a09f", layer(1000)),
                ("pulling 6f48b936a09f", layer(4000)),
                ("verifying sha256 digest", None),
                ("success", None),
            ]
        );
        let request = server.requests.recv().await.unwrap();
        assert!(request.starts_with("POST /api/pull HTTP/1.1"), "{request}");
        assert!(request.ends_with(r#"{"model":"qwen3:4b","stream":true}"#), "{request}");
    }
}

fn kind(error: &PullError) -> &'static str {
    match error {
        PullError::Config(_) => "config",
        PullError::Failed(_) => "failed",
        PullError::UnknownModel(_) => "unknown",
        PullError::NoSpace(_) => "space",
        PullError::Unreachable(_) => "unreachable",
        PullError::OldServer(_) => "old",
        PullError::NotOllama(_) => "not ollama",
        PullError::Refused(_) => "refused",
        PullError::Unfinished => "unfinished",
        PullError::Silent(_) => "silent",
    }
}

// proves E2: every failure has a kind, so that a person is told what to do
#[tokio::test]
async fn every_way_to_fail_is_told_apart() {
    let begun = r#"{"status":"pulling manifest"}"#;
    for (status, body, expected) in [
        ("200 OK", format!("{begun}\n{{\"error\":\"pull model manifest: file does not exist\"}}\n"), "unknown"),
        ("400 Bad Request", r#"{"error":"invalid model name"}"#.to_owned(), "unknown"),
        ("200 OK", format!("{begun}\n{{\"error\":\"write /models/blobs/x: no space left on device\"}}"), "space"),
        (
            "200 OK",
            format!(
                "{begun}\n{{\"error\":\"pull model manifest: Get \\\"https://registry.ollama.ai/v2/\\\": dial tcp: lookup \
                 registry.ollama.ai: no such host\"}}"
            ),
            "unreachable",
        ),
        (
            "500 Internal Server Error",
            r#"{"error":"412: The model you are attempting to pull requires a newer version of Ollama."}"#.to_owned(),
            "old",
        ),
        ("404 Not Found", r#"{"error":{"code":404,"message":"File Not Found"}}"#.to_owned(), "not ollama"),
        ("200 OK", "<html>\n".to_owned(), "unfinished"),
        ("200 OK", begun.to_owned(), "unfinished"),
        ("500 Internal Server Error", r#"{"error":"the moon is full"}"#.to_owned(), "refused"),
    ] {
        let (result, ..) = pulled(Act::SayAndClose(answer(status, &body))).await;
        assert_eq!(kind(&result.unwrap_err()), expected, "{body}");
    }
    let cut = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{begun}\n\r\n", begun.len() + 1);
    let (result, steps, _) = pulled(Act::SayAndClose(cut.into_bytes())).await;
    assert_eq!((kind(&result.unwrap_err()), steps.len()), ("failed", 1));
    let endless = answer("200 OK", &"x".repeat(70 << 10));
    assert_eq!(kind(&pulled(Act::SayAndClose(endless)).await.0.unwrap_err()), "refused");
    let (closed, ..) = pulled(Act::Close).await;
    assert_eq!(kind(&closed.unwrap_err()), "failed");
}

// proves X1: what a server says is shown without what would drive a terminal
#[tokio::test]
async fn the_words_of_a_server_are_made_harmless() {
    let body = format!("{}\n{}", r#"{"status":"a\u001b[2Jb"}"#, r#"{"error":"c\u001b[2J\nd"}"#);
    let (result, steps, _) = pulled(Act::SayAndClose(answer("200 OK", &body))).await;
    assert_eq!(steps[0].status, "a [2Jb");
    assert_eq!(result.unwrap_err().to_string(), "the server refused: c [2J d");
}
