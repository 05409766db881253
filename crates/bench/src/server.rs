//! The scripted model server, in a separate process.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::ours;
use crate::programs::Programs;

/// The behaviour of the model.
#[derive(Clone, Copy, Debug)]
pub struct ModelBehaviour {
    /// Total number of replies, each except the last with a call.
    pub turns: usize,
    /// Bytes of text in each reply.
    pub text_bytes: usize,
    /// The delay before each reply.
    pub latency_ms: u64,
    /// The tool that is called.
    pub tool: BenchTool,
}

/// The tool that the model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BenchTool {
    /// The bench's own tool, which does nothing.
    #[default]
    Haul,
    /// The built-in one that reads a file: another one with each call.
    ReadFile,
}

impl BenchTool {
    const fn name(self) -> &'static str {
        match self {
            Self::Haul => ours::TOOL,
            Self::ReadFile => "read_file",
        }
    }

    fn arguments(self) -> Value {
        match self {
            Self::Haul => arguments(),
            Self::ReadFile => json!({"path": "file-$STEP.txt"}),
        }
    }
}

/// A running server; dropping this stops it.
#[derive(Debug)]
pub struct BenchServer {
    child: Child,
    base_url: String,
}

/// The arguments of each call: different every time, so that no guard takes the run for stuck.
#[must_use]
pub fn arguments() -> Value {
    json!({"n": "$STEP"})
}

impl BenchServer {
    /// Starts a server.
    pub fn start(programs: &Programs, behaviour: ModelBehaviour) -> Result<Self> {
        let mut child = Command::new(&programs.model_server)
            .args(["--preset", "turns", "--quick", "--with-stdin", "--tool", behaviour.tool.name()])
            .args(["--turns", &behaviour.turns.to_string()])
            .args(["--text-bytes", &behaviour.text_bytes.to_string()])
            .args(["--latency-ms", &behaviour.latency_ms.to_string()])
            .args(["--arguments", &behaviour.tool.arguments().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} can't be started", programs.model_server.display()))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("the server has no output")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on ").context("the server does not say where it listens")?;
        Ok(Self { base_url: format!("{address}/v1"), child })
    }

    /// The base URL of the API.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        // Closing its standard input makes the server exit.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
