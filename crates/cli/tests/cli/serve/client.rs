//! An MCP client that writes and reads JSON lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Bench;

const PATIENCE: Duration = Duration::from_secs(60);

/// How a client introduces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// An `initialize` handshake comes first.
    Handshake,
    /// Every request carries the client's details (2026-07-28).
    Inline,
}

pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    speaks: Speaks,
    capabilities: Value,
    next: u64,
    /// Messages received while waiting for another: notifications, and requests of the server.
    pub(crate) aside: Vec<Value>,
}

impl Client {
    /// Starts the binary without sending anything.
    pub(crate) fn start(bench: &Bench, arguments: &[&str]) -> Self {
        Self::start_with(bench, arguments, &[])
    }

    pub(crate) fn start_with(bench: &Bench, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = bench.command(&[&["mcp-serve"], arguments].concat());
        command.envs(environment.iter().copied()).stdin(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the binary starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                // Standard output may contain nothing but protocol messages.
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not JSON": line}));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let (speaks, capabilities) = (Speaks::Inline, json!({}));
        Self { child, stdin, lines, speaks, capabilities, next: 1, aside: Vec::new() }
    }

    /// Starts a client and completes the handshake.
    pub(crate) fn shaken(bench: &Bench, arguments: &[&str], capabilities: Value) -> Self {
        let mut client = Self::start(bench, arguments);
        let greeted = client.initialize("2025-06-18", capabilities);
        assert_eq!(greeted["result"]["protocolVersion"], "2025-06-18", "{greeted}");
        client
    }

    /// Starts a client of 2026-07-28.
    pub(crate) fn inline(bench: &Bench, arguments: &[&str], capabilities: Value) -> Self {
        let mut client = Self::start(bench, arguments);
        client.capabilities = capabilities;
        client
    }

    pub(crate) fn initialize(&mut self, version: &str, capabilities: Value) -> Value {
        self.speaks = Speaks::Handshake;
        let mut params = json!({"protocolVersion": version, "clientInfo": {"name": "lines", "version": "1"}});
        params["capabilities"] = capabilities;
        let greeted = self.request("initialize", params);
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        greeted
    }

    pub(crate) fn write(&mut self, message: &Value) {
        self.write_line(&message.to_string());
    }

    pub(crate) fn write_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("an open line");
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).expect("written");
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.speaks == Speaks::Inline {
            let meta = params.as_object_mut().expect("params").entry("_meta").or_insert(json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "lines", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a tool call with a progress token and returns its id.
    pub(crate) fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        let token = format!("progress-{}", self.next);
        let mut params = json!({"name": tool, "_meta": {"progressToken": token}});
        params["arguments"] = arguments;
        self.send("tools/call", params)
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.reply(id)
    }

    /// Makes a tool call and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.send_call(tool, arguments);
        self.result(id)
    }

    /// Returns the next message, whatever it is.
    pub(crate) fn next(&mut self) -> Value {
        let message = self.lines.recv_timeout(PATIENCE).expect("a message");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// Returns the reply to a request; messages before it go to `aside`.
    pub(crate) fn reply(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.aside.push(message);
        }
    }

    pub(crate) fn result(&mut self, id: u64) -> Value {
        let reply = self.reply(id);
        assert!(reply.get("result").is_some(), "{reply}");
        reply["result"].clone()
    }

    /// Waits for a message with this method; messages before it go to `aside`.
    pub(crate) fn wait_for(&mut self, method: &str) -> Value {
        loop {
            let message = self.next();
            if message["method"] == method {
                return message;
            }
            self.aside.push(message);
        }
    }

    /// The progress lines received so far for one request.
    pub(crate) fn progress(&self, id: u64) -> Vec<String> {
        let token = json!(format!("progress-{id}"));
        let of_request = |message: &&Value| {
            message["method"] == "notifications/progress" && message["params"]["progressToken"] == token
        };
        let lines = self.aside.iter().filter(of_request);
        lines.map(|message| message["params"]["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Closes the connection; returns the exit code and the messages that arrived afterwards.
    pub(crate) fn hang_up(mut self) -> (Option<i32>, Vec<Value>) {
        drop(self.stdin.take());
        let code = self.child.wait().expect("it ends").code();
        (code, self.lines.iter().collect())
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("waited");
    }
}

/// Leaves no process running, however a test ends.
impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().expect("content");
    blocks.iter().map(|block| block["text"].as_str().expect("text")).collect::<Vec<_>>().join("\n")
}
