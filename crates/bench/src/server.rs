//! The scripted model server, in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::ours;
use crate::programs::Programs;

/// What the model does.
#[derive(Clone, Copy, Debug)]
pub struct ModelBehaviour {
    /// Replies in all, each but the last with a call.
    pub turns: usize,
    /// Text in each.
    pub text_bytes: usize,
    /// The wait before each.
    pub latency_ms: u64,
}

/// A running server; it ends when this is dropped.
#[derive(Debug)]
pub struct BenchServer {
    child: Child,
    base_url: String,
}

/// The arguments of each call: never the same twice, so that no guard takes the run for stuck.
#[must_use]
pub fn arguments() -> Value {
    json!({"n": "$STEP"})
}

impl BenchServer {
    /// Starts one.
    pub fn start(programs: &Programs, behaviour: ModelBehaviour) -> Result<Self> {
        let mut child = Command::new(&programs.model_server)
            .args(["--preset", "turns", "--quick", "--with-stdin", "--tool", ours::TOOL])
            .args(["--turns", &behaviour.turns.to_string()])
            .args(["--text-bytes", &behaviour.text_bytes.to_string()])
            .args(["--latency-ms", &behaviour.latency_ms.to_string()])
            .args(["--arguments", &arguments().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} can't be started", programs.model_server.display()))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("the server has no output")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on ").context("the server does not say where it listens")?;
        Ok(Self { base_url: format!("{address}/v1"), child })
    }

    /// Where the API begins.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        // Its standard input closes and so it ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
