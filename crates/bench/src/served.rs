//! A running `windlass serve`, with a scripted model.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::floor::plain_client;
use crate::followers::{FollowTarget, SentTimes};
use crate::programs::Programs;

/// More runs at once than any figure opens.
const MOST_RUNS: &str = "1000";

/// What ends a run in its events.
pub const RUN_ENDED: &str = "\"kind\":\"RunEnded\"";

/// The server; it is killed when this is dropped.
#[derive(Debug)]
pub struct ServedWindlass {
    child: Child,
    host: String,
    token: String,
    client: reqwest::Client,
}

impl ServedWindlass {
    /// Starts the server in this folder with a model at this address.
    pub fn start(programs: &Programs, base_url: &str, dir: &Path) -> Result<Self> {
        let mut child = Command::new(&programs.windlass)
            .args(["serve", "--address", "127.0.0.1:0", "--model", "scripted", "--base-url", base_url])
            .args(["--max-runs", MOST_RUNS])
            .arg("--workspace")
            .arg(dir)
            .arg("--data-dir")
            .arg(dir.join("data"))
            .env("XDG_CONFIG_HOME", dir.join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} can't be started", programs.windlass.display()))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it has no output")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("Open http://").with_context(|| format!("it said {line:?}"))?;
        let (host, token) = address.split_once("/?token=").context("it printed no token")?;
        Ok(Self { child, host: host.to_owned(), token: token.to_owned(), client: plain_client()? })
    }

    /// Returns the process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns the base address of the OpenAI wire.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.host)
    }

    /// Returns the token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Makes a session and returns its id.
    pub async fn new_session(&self) -> Result<String> {
        let made = self.post("/api/sessions", &json!({})).await?;
        Ok(made["id"].as_str().context("a session has an id")?.to_owned())
    }

    /// Sends a message.
    pub async fn say(&self, session: &str, text: &str) -> Result<()> {
        self.post(&format!("/api/sessions/{session}/messages"), &json!({ "text": text })).await.map(drop)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.client.post(format!("http://{}{path}", self.host)).bearer_auth(&self.token);
        let answer = request.header("content-type", "application/json").body(body.to_string()).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    /// Returns what is read at this path.
    pub async fn get(&self, path: &str) -> Result<String> {
        let answer = self.client.get(format!("http://{}{path}", self.host)).bearer_auth(&self.token).send().await?;
        ensure!(answer.status().is_success(), "{path}: {}", answer.status());
        Ok(answer.text().await?)
    }

    /// Returns a session's events, from the record after `after` to the end of a run.
    #[must_use]
    pub fn events(&self, session: &str, after: u64) -> FollowTarget {
        FollowTarget {
            host: self.host.clone(),
            path: format!("/api/sessions/{session}/events?after={after}"),
            header: format!("authorization: Bearer {}\r\n", self.token),
            last: RUN_ENDED,
            times: SentTimes::Records,
        }
    }
}

impl Drop for ServedWindlass {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
