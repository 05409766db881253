//! Asks the providers' official SDKs whether a request is one of theirs, and whether they can read an answer.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Packages;

/// A wire, as the SDK for it knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdkWire {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

/// An answer as an SDK's client read it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SdkAnswer {
    /// Its text.
    pub text: String,
    /// Name and arguments of each call in it.
    pub calls: Vec<(String, String)>,
    /// How many tokens the request and the answer have together.
    pub tokens: u64,
}

/// What the SDK says of one request.
#[derive(Deserialize)]
struct SdkVerdict {
    objection: Option<String>,
    answer: Option<SdkAnswer>,
}

/// The installed SDKs.
#[derive(Clone, Debug)]
pub struct SdkJudge {
    python: PathBuf,
}

impl SdkJudge {
    /// Returns `None` if the SDKs are not installed; see [`Packages::folder`] for `tmpdir`.
    #[must_use]
    pub fn installed(tmpdir: &str) -> Option<Self> {
        Some(Self { python: Packages::Models.folder(tmpdir)?.join("bin/python") })
    }

    /// Returns what is wrong with each request body by the SDK's own types; `None` for a good one. A key that the types
    /// do not have is wrong too.
    ///
    /// # Errors
    /// If the SDKs can't be run.
    pub fn objections(&self, wire: SdkWire, bodies: &[Value]) -> io::Result<Vec<Option<String>>> {
        Ok(self.verdicts(wire, bodies, None)?.into_iter().map(|verdict| verdict.objection).collect())
    }

    /// Sends each body to the server at `base_url` with the SDK's own client and returns what that reads in the answer;
    /// an error says what it does not accept.
    ///
    /// # Errors
    /// If the SDKs can't be run.
    pub fn answers(
        &self,
        wire: SdkWire,
        bodies: &[Value],
        base_url: &str,
    ) -> io::Result<Vec<Result<SdkAnswer, String>>> {
        let read = |verdict: SdkVerdict| verdict.answer.ok_or_else(|| verdict.objection.unwrap_or_default());
        Ok(self.verdicts(wire, bodies, Some(base_url))?.into_iter().map(read).collect())
    }

    fn verdicts(&self, wire: SdkWire, bodies: &[Value], server: Option<&str>) -> io::Result<Vec<SdkVerdict>> {
        let wire = match wire {
            SdkWire::Chat => "chat",
            SdkWire::Responses => "responses",
            SdkWire::Messages => "messages",
        };
        let lines: String =
            bodies.iter().map(|body| format!("{}\n", json!({"wire": wire, "body": body, "server": server}))).collect();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/sdk_judge.py");
        let mut command = Command::new(&self.python);
        // A proxy of this machine has no business with a server on it.
        command.arg(script).env("NO_PROXY", "127.0.0.1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(lines.as_bytes())));
        let output = child.wait_with_output()?;
        // If it ended early, the count below says so.
        let _ = writer.join();
        let verdicts = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<SdkVerdict>();
        let verdicts: Vec<SdkVerdict> = verdicts.collect::<Result<_, _>>()?;
        if verdicts.len() == bodies.len() && output.status.success() {
            return Ok(verdicts);
        }
        let (given, wanted) = (verdicts.len(), bodies.len());
        Err(io::Error::other(format!("the SDKs judged {given} of {wanted} bodies and ended with {}", output.status)))
    }
}
