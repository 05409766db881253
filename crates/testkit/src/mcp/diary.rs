//! A record on disk of what a fake server did, so that tests can read it after the server is dead.
//!
//! Each entry is one line, written by a single atomic append.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The folder in which fake servers record what they do; several may share one.
#[derive(Clone, Debug)]
pub struct McpDiary {
    folder: PathBuf,
}

/// A call that a fake server received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// The `_meta` of the request.
    pub meta: Value,
    /// The state of an earlier try, returned by the client.
    pub request_state: Option<String>,
    /// The person's input, if it was requested.
    pub input_responses: Option<Value>,
}

const CALLS: &str = "calls.jsonl";
const CANCELLED: &str = "cancelled.jsonl";
const HEARD: &str = "heard.log";
const PIDS: &str = "pids.log";

impl McpDiary {
    /// The diary in a folder, which need not exist yet.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Every call so far, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<McpCall> {
        self.lines(CALLS).iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The calls of one tool.
    #[must_use]
    pub fn calls_of(&self, tool: &str) -> Vec<McpCall> {
        self.calls().into_iter().filter(|call| call.tool == tool).collect()
    }

    /// The ids of the requests that the client cancelled.
    #[must_use]
    pub fn cancelled(&self) -> Vec<Value> {
        self.lines(CANCELLED).iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The methods received, in order.
    #[must_use]
    pub fn heard_requests(&self) -> Vec<String> {
        self.lines(HEARD)
    }

    /// How often a method was received.
    #[must_use]
    pub fn times(&self, method: &str) -> usize {
        self.heard_requests().iter().filter(|heard| *heard == method).count()
    }

    /// How many servers were started.
    #[must_use]
    pub fn starts(&self) -> usize {
        self.lines(PIDS).iter().filter(|line| line.starts_with("server ")).count()
    }

    /// The processes that are still running, of all that were started.
    #[must_use]
    pub fn survivors(&self) -> Vec<u32> {
        let living = self.lines(PIDS).into_iter().filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let pid: u32 = words.next()?.parse().ok()?;
            (ProcessBirth::of(pid)? == ProcessBirth(words.next()?.to_owned())).then_some(pid)
        });
        living.collect()
    }

    pub(super) fn note_call(&self, call: &McpCall) -> io::Result<()> {
        self.note(CALLS, &serde_json::to_string(call)?)
    }

    pub(super) fn note_cancelled(&self, id: &Value) -> io::Result<()> {
        self.note(CANCELLED, &id.to_string())
    }

    pub(super) fn note_heard(&self, method: &str) -> io::Result<()> {
        self.note(HEARD, &method.replace('\n', " "))
    }

    pub(super) fn note_server(&self, pid: u32) -> io::Result<()> {
        self.note_process("server", pid)
    }

    pub(super) fn note_grandchild(&self, pid: u32) -> io::Result<()> {
        self.note_process("grandchild", pid)
    }

    fn note_process(&self, role: &str, pid: u32) -> io::Result<()> {
        let ProcessBirth(birth) = ProcessBirth::of(pid).unwrap_or(ProcessBirth("-".to_owned()));
        self.note(PIDS, &format!("{role} {pid} {birth}"))
    }

    fn note(&self, file: &str, line: &str) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = File::options().create(true).append(true).open(self.folder.join(file))?;
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Reads complete lines only: the last one may still be being written.
    fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
    }
}

/// When a process started, which distinguishes it from a later one with the same id.
#[derive(PartialEq, Eq)]
struct ProcessBirth(String);

impl ProcessBirth {
    /// `None` if there is no such process, or it is only a zombie.
    fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain any character; the state follows it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        (state != "Z" && state != "X").then_some(())?;
        fields.nth(18).map(|birth| Self(birth.to_owned()))
    }
}
