//! Has an Ollama server download a model (`POST /api/pull`). The server answers with a line of JSON for each step, and
//! with `success` at the end; if the connection closes, it stops and keeps what it has.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use tokio::time::timeout;
use windlass_vocab::Failure;

use super::client::{ModelConfigError, ServerClient};
use super::connection_failure::connection_failure;
use super::listing::read_answer;
use crate::config::ModelConfig;
use crate::connection::PendingResponse;
use crate::http::{HttpClient, PartedBody, RepeatableRequest};
use crate::wires::wire;

/// Checking a large file after its download takes minutes, without a line.
const SILENCE: Duration = Duration::from_mins(15);
/// No step is this long.
const LONGEST_LINE: usize = 64 << 10;

/// A step of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullStep {
    /// What the server does, in its words.
    pub status: String,
    /// The file that is downloaded, if one is.
    pub layer: Option<PulledLayer>,
}

/// A part of a model, as far as it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PulledLayer {
    /// Which part it is.
    pub digest: String,
    /// Its size in bytes.
    pub total: u64,
    /// How much of it the server has.
    pub completed: u64,
}

/// Why a model was not downloaded.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PullError {
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] ModelConfigError),
    /// The server can't be reached, or the connection was lost.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// There is no model of this name to download.
    #[error("there is no such model to download ({0})")]
    UnknownModel(String),
    /// The server's disk is full.
    #[error("the server's disk is full ({0})")]
    NoSpace(String),
    /// The server can't reach the place it downloads from.
    #[error("the server can't download ({0})")]
    Unreachable(String),
    /// The model needs a newer version of the server.
    #[error("the model needs a newer version of the server ({0})")]
    OldServer(String),
    /// The server has nothing to download models with.
    #[error("the server does not download models ({0})")]
    NotOllama(u16),
    /// The server refuses for another reason, in its words.
    #[error("the server refused: {0}")]
    Refused(String),
    /// The answer ended before the download did.
    #[error("the server's answer ended before the download did")]
    Unfinished,
    /// The server has said nothing for a long time.
    #[error("the server has said nothing for {} minutes", .0.as_secs() / 60)]
    Silent(Duration),
}

/// Makes an error of a message.
type PullCause = fn(String) -> PullError;

/// What a cause is called in the messages of Ollama and of the systems it runs on. The first that fits counts.
const CAUSES: &[(&str, PullCause)] = &[
    ("no space left", PullError::NoSpace),
    ("disk quota exceeded", PullError::NoSpace),
    ("not enough space", PullError::NoSpace),
    ("newer version of ollama", PullError::OldServer),
    ("file does not exist", PullError::UnknownModel),
    ("invalid model name", PullError::UnknownModel),
    ("model not found", PullError::UnknownModel),
    ("no such host", PullError::Unreachable),
    ("dial tcp", PullError::Unreachable),
    ("i/o timeout", PullError::Unreachable),
    ("max retries exceeded", PullError::Unreachable),
    ("network is unreachable", PullError::Unreachable),
    ("connection reset", PullError::Unreachable),
    ("tls:", PullError::Unreachable),
];

/// Has the server in `config` download its model. `show` gets each step. Dropping the future stops the download.
///
/// # Errors
/// If the model is not there afterwards.
pub async fn pull_model(
    config: &ModelConfig,
    http: &HttpClient,
    mut show: impl FnMut(PullStep),
) -> Result<(), PullError> {
    let client = ServerClient::open(config, wire(config.wire).access, http)?;
    let wrong = || ModelConfigError::BaseUrl(config.base_url.clone());
    let path = client.root_path_to("api/pull").ok_or_else(wrong)?;
    let body = PartedBody::new(vec![Bytes::from(json!({ "model": config.model, "stream": true }).to_string())]);
    let asked = RepeatableRequest { method: &Method::POST, path: &path, headers: &client.headers, body: &body };
    let sent = timeout(SILENCE, client.sender.send(&asked)).await.map_err(|_| PullError::Silent(SILENCE))?;
    let mut response = sent.map_err(|error| connection_failure(&client.endpoint, &error))?;
    let status = response.status();
    if !status.is_success() {
        let said = read_answer(&client, &mut response).await.unwrap_or_default();
        return Err(rejected(&client, status.as_u16(), &said));
    }
    follow(&client, &mut response, &mut show).await
}

fn rejected(client: &ServerClient, status: u16, body: &[u8]) -> PullError {
    // An unknown model is no 404 there: the error is in the answer.
    let has_path = !matches!(status, 404 | 405 | 501);
    match serde_json::from_slice::<Value>(body).ok().as_ref().and_then(error_of) {
        Some(said) if has_path => refused(client, &said),
        Some(_) | None => PullError::NotOllama(status),
    }
}

/// Reads the steps to their end.
async fn follow(
    client: &ServerClient,
    response: &mut PendingResponse,
    show: &mut impl FnMut(PullStep),
) -> Result<(), PullError> {
    let mut pending = Vec::new();
    let mut has_succeeded = false;
    loop {
        let chunk = timeout(SILENCE, response.chunk()).await.map_err(|_| PullError::Silent(SILENCE))?;
        let chunk = chunk.map_err(|error| connection_failure(&client.endpoint, &error))?;
        let is_end = chunk.is_none();
        pending.extend_from_slice(chunk.as_deref().unwrap_or(b"\n"));
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            let Ok(step) = serde_json::from_slice::<Value>(&line) else { continue };
            if let Some(said) = error_of(&step) {
                return Err(refused(client, &said));
            }
            has_succeeded |= step["status"] == "success";
            show(decoded(client, &step));
        }
        match (is_end, has_succeeded) {
            (true, true) => return Ok(()),
            (true, false) => return Err(PullError::Unfinished),
            (false, _) if pending.len() > LONGEST_LINE => return Err(PullError::Refused("a line without end".into())),
            (false, _) => {}
        }
    }
}

/// What went wrong, where this is said: as a text, or as other servers do in an object.
fn error_of(answer: &Value) -> Option<String> {
    let said = answer.get("error")?;
    said.as_str().or_else(|| said.get("message")?.as_str()).map(str::to_owned)
}

fn refused(client: &ServerClient, said: &str) -> PullError {
    let plain = said.to_ascii_lowercase();
    let cause = CAUSES.iter().find(|(words, _)| plain.contains(words));
    let quoted = client.endpoint.quote(said);
    cause.map_or_else(|| PullError::Refused(quoted.clone()), |(_, error)| error(quoted.clone()))
}

fn decoded(client: &ServerClient, step: &Value) -> PullStep {
    let layer = || {
        let digest = step.get("digest")?.as_str()?;
        let total = step.get("total")?.as_u64().filter(|total| *total > 0)?;
        let completed = step.get("completed").and_then(Value::as_u64).unwrap_or(0).min(total);
        Some(PulledLayer { digest: digest.to_owned(), total, completed })
    };
    PullStep { status: client.endpoint.quote(step["status"].as_str().unwrap_or_default()), layer: layer() }
}
