//! A running `windlass serve`, and a client of few words for it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command};
use std::time::Duration;

use serde_json::Value;

use super::Bench;

/// How long a test waits for an answer or an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// The header lines, in lower case.
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Answered {
    /// Reads an answer to its end.
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut whole = Vec::new();
        stream.read_to_end(&mut whole).expect("an answer");
        let whole = String::from_utf8_lossy(&whole).into_owned();
        let (head, body) = whole.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{whole:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let headers = head.to_lowercase();
        let body = if headers.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
        Self { status, headers, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the kind of the error.
    pub(crate) fn error(&self) -> String {
        let json = self.json();
        assert!(json["error"]["message"].is_string(), "{self:?}");
        json["error"]["kind"].as_str().expect("a kind").to_owned()
    }
}

/// Where a server is, and the token for it.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) host: String,
    token: String,
}

impl Address {
    /// Sends a request to a server that may die at any moment. Returns the status of its whole answer.
    pub(crate) fn try_send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Option<u16> {
        let bearer = format!("Bearer {}", self.token);
        let headers = [&[("authorization", bearer.as_str())], headers].concat();
        let mut stream = begin(&self.host, method, path, &headers, body).ok()?;
        let mut whole = String::new();
        stream.read_to_string(&mut whole).ok()?;
        let (head, body) = whole.split_once("\r\n\r\n")?;
        serde_json::from_str::<Value>(body).ok()?;
        head.split(' ').nth(1)?.parse().ok()
    }
}

/// A running server. It is killed at the end of the test.
pub(crate) struct Served {
    pub(crate) child: Child,
    _stdout: BufReader<ChildStdout>,
    pub(crate) host: String,
    pub(crate) token: String,
    /// The line with the address.
    pub(crate) printed: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// Starts a server on a free port, and waits until it listens.
    pub(crate) fn start(bench: &Bench, arguments: &[&str]) -> Self {
        let line = [&["serve", "--address", "127.0.0.1:0"], arguments].concat();
        Self::started(&mut bench.command(&line))
    }

    pub(crate) fn started(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the binary starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Open http://").unwrap_or_else(|| panic!("{line:?}"));
        // A token that the test chose is not printed.
        let (host, token) = match address.split_once("/?token=") {
            Some((host, token)) => (host, token.to_owned()),
            None => (address.split('/').next().expect("a host"), chosen_token(command)),
        };
        let host = host.to_owned();
        Self { child, host, token, printed: line, _stdout: stdout }
    }

    /// Sends a request with the token.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> Answered {
        self.send_with(method, path, &[("authorization", &format!("Bearer {}", self.token))], body)
    }

    /// Sends a request with another token.
    pub(crate) fn send_as(&self, token: &str, method: &str, path: &str, body: &str) -> Answered {
        self.send_with(method, path, &[("authorization", &format!("Bearer {token}"))], body)
    }

    /// Sends a request with exactly these headers, the host and the length.
    pub(crate) fn send_with(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        Answered::read(self.begin(method, path, headers, body))
    }

    /// Returns where it is.
    pub(crate) fn address(&self) -> Address {
        Address { host: self.host.clone(), token: self.token.clone() }
    }

    /// Sends a request and leaves the connection to the test.
    pub(crate) fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        begin(&self.host, method, path, headers, body).expect("connected")
    }

    pub(crate) fn get(&self, path: &str) -> Answered {
        self.send("GET", path, "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answered {
        self.send("POST", path, &body.to_string())
    }

    /// Creates a session and returns its id.
    pub(crate) fn new_session(&self) -> String {
        self.new_session_as(&self.token)
    }

    /// Creates a session with another token.
    pub(crate) fn new_session_as(&self, token: &str) -> String {
        let made = self.send_as(token, "POST", "/api/sessions", "{}");
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["id"].as_str().expect("an id").to_owned()
    }

    /// Sends a message that must be accepted.
    pub(crate) fn say(&self, session: &str, text: &str) -> Value {
        self.say_as(&self.token, session, text)
    }

    /// Sends a message with another token; it must be accepted.
    pub(crate) fn say_as(&self, token: &str, session: &str, text: &str) -> Value {
        let text = serde_json::json!({"text": text}).to_string();
        let sent = self.send_as(token, "POST", &format!("/api/sessions/{session}/messages"), &text);
        assert_eq!(sent.status, 202, "{sent:?}");
        sent.json()
    }

    /// Follows a session from the record after `after` on.
    pub(crate) fn follow(&self, session: &str, after: u64) -> EventStream {
        self.follow_as(&self.token, session, after)
    }

    /// Follows a session with another token.
    pub(crate) fn follow_as(&self, token: &str, session: &str, after: u64) -> EventStream {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("last-event-id", &after.to_string())];
        let path = format!("/api/sessions/{session}/events");
        let mut lines = BufReader::new(self.begin("GET", &path, &headers, ""));
        let mut status = String::new();
        lines.read_line(&mut status).expect("a status");
        assert!(status.contains(" 200 "), "{status}");
        EventStream { lines }
    }
}

/// Returns the token that the command was given.
fn chosen_token(command: &Command) -> String {
    let words: Vec<_> = command.get_args().collect();
    let file = words.iter().position(|word| *word == "--token-file").and_then(|place| words.get(place + 1));
    match file {
        Some(file) => std::fs::read_to_string(file).expect("a token").trim().to_owned(),
        None => {
            let value =
                command.get_envs().find(|(name, _)| *name == "WINDLASS_SERVE_TOKEN").and_then(|(_, value)| value);
            value.expect("a token").to_string_lossy().into_owned()
        }
    }
}

/// Connects and sends a request.
fn begin(host: &str, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        head.push_str(&format!("host: {host}\r\n"));
    }
    if !headers.iter().any(|(name, _)| *name == "content-type") && !body.is_empty() {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    // A server that refuses a body may close before it has read all of it.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    Ok(stream)
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

/// The events of a session as they come.
pub(crate) struct EventStream {
    lines: BufReader<TcpStream>,
}

impl EventStream {
    /// Returns the next event: its id, if it has one, and its data. `None` when the server has closed the stream.
    pub(crate) fn next(&mut self) -> Option<(Option<u64>, Value)> {
        let mut id = None;
        loop {
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.trim().parse().ok();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some((id, serde_json::from_str(data).expect("JSON")));
            }
        }
    }

    /// Returns the records up to the first of this kind; deltas are dropped.
    pub(crate) fn records_to(&mut self, kind: &str) -> Vec<Value> {
        let mut records = Vec::new();
        while let Some((id, event)) = self.next() {
            if id.is_none() {
                continue;
            }
            assert_eq!(id, event["seq"].as_u64(), "the id is the record's number");
            let is_last = event["kind"] == kind;
            records.push(event);
            if is_last {
                return records;
            }
        }
        panic!("the stream ended before a {kind}: {records:#?}");
    }
}
