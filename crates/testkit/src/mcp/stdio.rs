//! A fake server over standard input and output.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::act::FakeAction;
use super::conversation::{LIST_CHANGED, McpConversation};
use super::diary::McpDiary;
use super::script::{Grandchild, Greeting, InputEndBehaviour, McpScript, Noise};

/// Set in a server that already ignores SIGTERM.
const DEAF: &str = "WINDLASS_FAKE_IS_DEAF";
/// Ignored signals stay ignored after `exec`.
const DEAFEN: &str = r#"trap '' TERM INT HUP; exec "$0" "$@""#;

/// Plays a script over standard input and output until the client closes them, or the script makes the server exit.
#[must_use]
pub fn run_mcp_fake(script: &McpScript) -> ExitCode {
    match StdioServer::start(script).and_then(|server| server.serve()) {
        Ok(()) => ExitCode::SUCCESS,
        // The client closed its end.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windlass-mcp-fake: {error}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Clone)]
struct StdioServer {
    script: Arc<McpScript>,
    diary: Option<McpDiary>,
    conversation: Arc<Mutex<McpConversation>>,
}

impl StdioServer {
    fn start(script: &McpScript) -> io::Result<Self> {
        if script.leaving == InputEndBehaviour::Never && std::env::var_os(DEAF).is_none() {
            return Err(deafen()?);
        }
        let diary = script.diary.as_deref().map(McpDiary::at);
        let mut called = BTreeMap::new();
        if let Some(diary) = &diary {
            diary.note_server(std::process::id())?;
            for call in diary.calls() {
                *called.entry(call.tool).or_default() += 1;
            }
        }
        let conversation = Arc::new(Mutex::new(McpConversation::new(script.clone(), called)));
        Ok(Self { script: Arc::new(script.clone()), diary, conversation })
    }

    fn serve(&self) -> io::Result<()> {
        for grandchild in &self.script.grandchildren {
            self.forget(*grandchild)?;
        }
        complain(self.script.stderr_bytes)?;
        std::thread::sleep(Duration::from_millis(self.script.starts_after_ms));
        if self.script.handshake == Greeting::ExitsBefore {
            eprintln!("windlass-mcp-fake: no such configuration");
            return Err(io::Error::other("it would not start"));
        }
        let (mut input, mut line) = (io::stdin().lock(), Vec::new());
        while input.read_until(b'\n', &mut line)? > 0 {
            self.hear(&line)?;
            line.clear();
        }
        match self.script.leaving {
            InputEndBehaviour::Politely => Ok(()),
            InputEndBehaviour::Never => loop {
                std::thread::park();
            },
        }
    }

    fn hear(&self, line: &[u8]) -> io::Result<()> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return Ok(()) };
        if let (Some(diary), Some(method)) = (&self.diary, message["method"].as_str()) {
            diary.note_heard(method)?;
        }
        let acts = self.conversation.lock().unwrap_or_else(PoisonError::into_inner).hear(&message);
        self.perform(acts)
    }

    fn perform(&self, acts: Vec<FakeAction>) -> io::Result<()> {
        for act in acts {
            match act {
                FakeAction::Say { message, .. } => self.line(message.to_string().as_bytes())?,
                FakeAction::Line { bytes, .. } => self.line(&bytes)?,
                FakeAction::Half { message, .. } => {
                    let text = message.to_string();
                    write(&text.as_bytes()[..text.len() / 2])?;
                }
                FakeAction::After { ms, acts } => {
                    let later = self.clone();
                    std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_millis(ms));
                        // A client that is gone needs no answer.
                        let _ = later.perform(acts);
                    });
                }
                FakeAction::Complain(bytes) => complain(bytes)?,
                FakeAction::FloodForEver => {
                    let flooding = self.clone();
                    std::thread::spawn(move || {
                        let changed = format!(r#"{{"jsonrpc":"2.0","method":"{LIST_CHANGED}"}}"#);
                        while flooding.line(changed.as_bytes()).is_ok() {}
                    });
                }
                // This runs on the thread that reads, so parking it stops reading.
                FakeAction::StopReading => loop {
                    std::thread::park();
                },
                FakeAction::Exit => std::process::exit(1),
                FakeAction::NoteCall(call) => self.diary.as_ref().map_or(Ok(()), |diary| diary.note_call(&call))?,
                FakeAction::NoteCancelled(id) => {
                    self.diary.as_ref().map_or(Ok(()), |diary| diary.note_cancelled(&id))?;
                }
            }
        }
        Ok(())
    }

    /// Writes one message, with the noise around it.
    fn line(&self, message: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(message.len() + 2);
        let has = |noise| self.script.noise.contains(&noise);
        for noise in &self.script.noise {
            match noise {
                Noise::LogLines => bytes.extend_from_slice(b"[INFO] the fake server says something\n"),
                Noise::BlankLines => bytes.extend_from_slice(b"\n   \n\t\n"),
                Noise::BrokenUtf8 => bytes.extend_from_slice(b"\xff\xfe\xc3\x28 caf\xe9\n"),
                Noise::StrayJson => bytes.extend_from_slice(STRAY_JSON),
                Noise::LongLines => {
                    bytes.resize(bytes.len() + 1024 * 1024, b'-');
                    bytes.push(b'\n');
                }
                Noise::Bom | Noise::Crlf => {}
            }
        }
        if has(Noise::Bom) {
            bytes.extend_from_slice(b"\xef\xbb\xbf");
        }
        bytes.extend_from_slice(message);
        bytes.extend_from_slice(if has(Noise::Crlf) { b"\r\n" } else { b"\n" });
        if has(Noise::BlankLines) {
            bytes.push(b'\n');
        }
        write(&bytes)
    }

    fn forget(&self, grandchild: Grandchild) -> io::Result<()> {
        let mut command = Command::new(if grandchild == Grandchild::InOwnSession { "setsid" } else { "sh" });
        match grandchild {
            Grandchild::InGroup => command.args(["-c", "exec sleep 300"]).stdout(Stdio::null()),
            Grandchild::InOwnSession => command.args(["sleep", "300"]).stdout(Stdio::null()),
            Grandchild::Deaf => command.args(["-c", "trap '' TERM INT HUP; exec sleep 300"]),
        };
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?;
        self.diary.as_ref().map_or(Ok(()), |diary| diary.note_grandchild(child.id()))
    }
}

/// Valid JSON lines that are no messages.
const STRAY_JSON: &[u8] =
    b"{\"level\":\"info\",\"message\":\"started\"}\n[]\n42\nnull\n\"text\"\n{\"jsonrpc\":\"2.0\"}\n";

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn complain(bytes: u64) -> io::Result<()> {
    let block = b"the fake server complains about this and that\n".repeat(1_000);
    let (mut err, mut left) = (io::stderr().lock(), usize::try_from(bytes).unwrap_or(usize::MAX));
    while left > 0 {
        let now = left.min(block.len());
        err.write_all(&block[..now])?;
        left -= now;
    }
    Ok(())
}

/// Replaces this process by itself with signals ignored; returns only if that fails.
fn deafen() -> io::Result<io::Error> {
    let program = std::env::current_exe()?;
    let mut shell = Command::new("/bin/sh");
    Ok(shell.args(["-c", DEAFEN]).arg(program).args(std::env::args_os().skip(1)).env(DEAF, "1").exec())
}
