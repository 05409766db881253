//! Runs a real model: llama.cpp's server with a very small model. Tests use it to check the protocol, not the quality
//! of what it says.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Packages;

/// How the server turns a request into the model's prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatTemplate {
    /// The model's own. It has no place for tools: the server accepts them and drops them.
    Own,
    /// One that makes the model call `list_directory` after a user's message, and answer with text after a result.
    Calls,
}

/// A running server. Dropping the handle ends it; so does the end of this process.
#[derive(Debug)]
pub struct LocalModel {
    child: Child,
    address: String,
}

impl LocalModel {
    /// The model's id on the wire.
    pub const ID: &'static str = "smollm2";
    /// The context window in tokens.
    pub const WINDOW: u64 = 8192;

    /// Starts the server on a free port of the loopback address and waits until the model is loaded. Returns `None` if
    /// the packages are not installed; see [`Packages::folder`] for `tmpdir`.
    ///
    /// # Errors
    /// If the server can't be started or ends before it is ready.
    pub fn start(tmpdir: &str, template: ChatTemplate) -> io::Result<Option<Self>> {
        let Some(folder) = Packages::Models.folder(tmpdir) else { return Ok(None) };
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
        let mut command = Command::new(folder.join("bin/python"));
        command.arg(scripts.join("local_model.py"));
        match template {
            ChatTemplate::Own => {}
            ChatTemplate::Calls => {
                command.arg(scripts.join("calls.jinja"));
            }
        }
        // The server ends when its standard input is closed, also if this process is killed.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut address = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut address)?;
        }
        let address = address.trim_end().to_owned();
        // From here on, an early return ends the server.
        let model = Self { child, address };
        if model.address.is_empty() {
            return Err(io::Error::other("the local model ended before it was ready; its last words are above"));
        }
        Ok(Some(model))
    }

    /// The base URL for a client; it ends in `/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// The address it listens on, as `host:port`.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.address.trim_start_matches("http://")
    }
}

impl Drop for LocalModel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
