//! OpenAI's own SDK as a client of a server.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Packages;

/// The installed SDK.
#[derive(Clone, Debug)]
pub struct OpenAiSdk {
    python: PathBuf,
}

impl OpenAiSdk {
    /// Returns `None` if the SDK is not installed; see [`Packages::folder`] for `tmpdir`.
    #[must_use]
    pub fn installed(tmpdir: &str) -> Option<Self> {
        Some(Self { python: Packages::Models.folder(tmpdir)?.join("bin/python") })
    }

    /// Has the SDK make these calls at `base_url`, one after the other, and returns what it got from each.
    /// `python/openai_client.py` says how calls and results are written.
    ///
    /// # Errors
    /// If the SDK can't be run, or ends early.
    pub fn call(&self, base_url: &str, key: &str, calls: &[Value]) -> io::Result<Vec<Value>> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/openai_client.py");
        let mut command = Command::new(&self.python);
        // A proxy of this machine has no business with a server on it.
        command.arg(script).env("NO_PROXY", "127.0.0.1").env("OPENAI_BASE_URL", base_url).env("OPENAI_API_KEY", key);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            for call in calls {
                writeln!(input, "{call}")?;
            }
        }
        let output = child.wait_with_output()?;
        let results: Vec<Value> =
            serde_json::Deserializer::from_slice(&output.stdout).into_iter().collect::<Result<_, _>>()?;
        if results.len() == calls.len() && output.status.success() {
            return Ok(results);
        }
        let (given, wanted) = (results.len(), calls.len());
        Err(io::Error::other(format!("the SDK made {given} of {wanted} calls and ended with {}", output.status)))
    }
}
