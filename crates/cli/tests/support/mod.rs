//! Runs the real binary with a scripted model server, a workspace and a data folder of its own.
#![allow(dead_code, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
pub(crate) mod glass;

use serde_json::Value;
use windlass_testkit::{ModelServer, Script, ScriptStep, conversation};

#[cfg(target_os = "linux")]
pub(crate) mod deaths;
pub(crate) mod journal;
#[cfg(target_os = "linux")]
pub(crate) mod person;
#[cfg(target_os = "linux")]
pub(crate) mod pty;
pub(crate) mod served;

/// The result of one run of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code, or the negated signal number.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) struct Bench {
    pub(crate) server: ModelServer,
    pub(crate) dir: tempfile::TempDir,
    /// An environment variable of every process that the binary starts, to find surviving processes.
    mark: String,
    /// The durability setting: what each journal write waits for.
    durability: &'static str,
}

impl Bench {
    pub(crate) fn new(script: Script) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("work")).expect("a folder");
        let mark = format!("WINDLASS_MARK={}", dir.path().display());
        Self { server: ModelServer::start(script).expect("a server"), dir, mark, durability: "normal" }
    }

    /// The same bench with every write synced to the disk, as the binary does by default. It is slower, and most tests
    /// simulate killed processes, never power loss.
    pub(crate) fn synced(self) -> Self {
        Self { durability: "full", ..self }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace().join(name)).ok()
    }

    /// The binary with a clean environment that points at the server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_on(&self.data(), arguments)
    }

    /// The same command with another data folder.
    pub(crate) fn command_on(&self, data: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        let (name, value) = self.mark.split_once('=').expect("a mark");
        command
            .args(arguments)
            .arg("--data-dir")
            .arg(data)
            .current_dir(self.workspace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path())
            .env("OPENAI_BASE_URL", self.server.base_url())
            .env("OPENAI_MODEL", "scripted")
            .env("WINDLASS_DURABILITY", self.durability)
            .env("WINDLASS_TEST_CLOCK", "100")
            .env(name, value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    pub(crate) fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = self.command(arguments);
        command.envs(environment.iter().copied());
        ran(command.spawn().expect("the binary starts"))
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || {
            // A binary that refuses its input closes the pipe early, so this may fail.
            let _ = stdin.write_all(&input);
        });
        let ran = ran(child);
        writer.join().expect("written");
        ran
    }

    /// Adds a user of the server, and returns the token.
    pub(crate) fn add_user(&self, name: &str, options: &[&str]) -> String {
        let added = self.run(&[&["users", "add", name], options].concat());
        assert_eq!(added.code, 0, "{}", added.stderr);
        added.stdout.trim().to_owned()
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the binary starts")
    }

    /// The first line of each batch in the journal of a session.
    pub(crate) fn batches(&self, key: &str) -> Vec<String> {
        let exported = self.run(&["sessions", "export", key]);
        assert_eq!(exported.code, 0, "{}", exported.stderr);
        exported.stdout.lines().filter(|line| line.contains("\"batch\":[0,")).map(str::to_owned).collect()
    }

    /// Waits until a file appears in the workspace; fails if the process ends before.
    pub(crate) fn wait_for_file(&self, name: &str, child: &mut Child) {
        let begun = Instant::now();
        while !self.workspace().join(name).exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{name} never appeared");
            assert!(child.try_wait().expect("waited").is_none(), "the process ended before {name} appeared");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the server has received `count` requests; fails if the process ends before.
    pub(crate) fn wait_for_requests(&self, count: usize, child: &mut Child) {
        let begun = Instant::now();
        while self.server.count() < count {
            assert!(begun.elapsed() < Duration::from_secs(60), "only {} requests", self.server.count());
            assert!(child.try_wait().expect("waited").is_none(), "the process ended before request {count}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The records of a session, as exported. The export writes a long body on a line of its own before its record.
    pub(crate) fn journal(&self, key: &str) -> Vec<Value> {
        let exported = self.run(&["sessions", "export", key]);
        assert_eq!(exported.code, 0, "{}", exported.stderr);
        let (mut records, mut blobs) = (Vec::new(), HashMap::<String, String>::new());
        for line in exported.stdout.lines() {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            match (line["kind"].is_string(), line["blob"].as_str().map(str::to_owned)) {
                (true, Some(blob)) => {
                    line["body"] = serde_json::from_str(&blobs[&blob]).expect("JSON");
                    records.push(line);
                }
                (true, None) => records.push(line),
                (false, Some(blob)) => drop(blobs.insert(blob, line["text"].as_str().unwrap_or_default().to_owned())),
                (false, None) => {}
            }
        }
        records
    }

    /// How many records of a kind a session has.
    pub(crate) fn records(&self, key: &str, kind: &str) -> usize {
        count(&self.journal(key), kind)
    }

    /// The keys of all sessions, most recently used first.
    pub(crate) fn keys(&self) -> Vec<String> {
        let listed = self.run(&["sessions", "list"]);
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        listed.stdout.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
    }

    /// The messages with this role in the last request.
    pub(crate) fn last_request(&self, role: &str) -> Vec<String> {
        let requests = self.server.requests();
        let messages = conversation(&requests.last().expect("a request").body);
        let of_role = messages.iter().filter(|message| message["role"] == role);
        of_role.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The lines for one turn only that the last request ends with.
    pub(crate) fn last_reminder(&self) -> String {
        let requests = self.server.requests();
        let messages = requests.last().expect("a request").body["messages"].as_array().expect("messages").clone();
        let last = messages.last().and_then(|message| message["content"].as_str()).unwrap_or_default();
        assert!(last.starts_with("<reminder>"), "{last}");
        last.to_owned()
    }

    /// The names of the tools offered in the last request.
    pub(crate) fn offered(&self) -> Vec<String> {
        let requests = self.server.requests();
        let tools = requests.last().expect("a request").body["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Asserts that nothing was lost or half-written, and that every history sent to the model was valid.
    pub(crate) fn assert_whole(&self, context: &str) {
        let verified = self.run(&["sessions", "verify"]);
        assert_eq!(verified.code, 0, "{context}: {}{}", verified.stdout, verified.stderr);
        assert!(verified.stdout.lines().all(|line| line.contains(": whole, ")), "{context}: {}", verified.stdout);
        assert_eq!(self.server.refused(), Vec::<String>::new(), "{context}");
    }

    /// Waits until no process of this bench is left, as long as the guard process may take to end them.
    pub(crate) fn assert_nothing_survives(&self, context: &str) {
        let begun = Instant::now();
        loop {
            let survivors = self.survivors();
            if survivors.is_empty() {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "{context}: still running: {survivors:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn survivors(&self) -> Vec<String> {
        let entries = std::fs::read_dir("/proc").expect("a proc file system");
        let is_ours = |path: &Path| {
            let environment = std::fs::read(path.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
        };
        let ours = entries.flatten().map(|entry| entry.path()).filter(|path| is_ours(path));
        ours.map(|path| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            format!("{}: {}", path.display(), String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
    }
}

/// The writes that produced a journal, each with its records. A write is a batch, except that the first two batches
/// are one write if the session was created for its first message.
pub(crate) fn writes(journal: Vec<Value>) -> Vec<Vec<Value>> {
    let mut writes: Vec<Vec<Value>> = Vec::new();
    for record in journal {
        let begins = record["batch"][0] == 0 && !(writes.len() == 1 && record["kind"] == "MessageAccepted");
        match writes.last_mut() {
            Some(write) if !begins => write.push(record),
            Some(_) | None => writes.push(vec![record]),
        }
    }
    writes
}

/// How many records of a kind a journal has.
pub(crate) fn count(journal: &[Value], kind: &str) -> usize {
    journal.iter().filter(|record| record["kind"] == kind).count()
}

/// A script with these steps in the preset's format: under `task`, calls are written as `<tool>` blocks.
pub(crate) fn script_under(preset: &str, steps: impl IntoIterator<Item = ScriptStep>) -> Script {
    match preset {
        "task" => Script::of(steps.into_iter().flat_map(ScriptStep::in_blocks)),
        _ => Script::of(steps),
    }
}

/// Sends SIGINT, as Ctrl-C does.
pub(crate) fn interrupt(child: &Child) {
    send_signal(child, "INT");
}

/// Sends the signal of this name.
pub(crate) fn send_signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Waits until the process ends without reading its output. Returns its exit code.
pub(crate) fn ends_unread(child: &mut Child) -> i32 {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("waited") {
            return status.code().unwrap_or(-1);
        }
        assert!(begun.elapsed() < Duration::from_secs(15), "it never ended");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn ran(child: Child) -> Ran {
    use std::os::unix::process::ExitStatusExt as _;
    let output = child.wait_with_output().expect("the binary ends");
    Ran {
        code: output.status.code().unwrap_or_else(|| -output.status.signal().unwrap_or(0)),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
