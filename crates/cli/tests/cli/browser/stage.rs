//! The processes of a browser test: Node with the script, and what the script asks for.
//!
//! The script writes a line `@{"do": …}` for each thing it wants done, and reads one line of JSON when it is done. All other
//! lines are its report, which a failed test shows.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_testkit::{Packages, Script, node, skip};

use crate::support::Bench;
use crate::support::journal;
use crate::support::person::Attended;
use crate::support::served::Served;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// What a script asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Wish {
    /// A server with a workspace and a scripted model of its own.
    Open {
        script: Value,
        #[serde(default)]
        arguments: Vec<String>,
        #[serde(default)]
        files: BTreeMap<String, String>,
        /// The person's own settings, as TOML.
        #[serde(default)]
        settings: String,
        #[serde(default)]
        environment: BTreeMap<String, String>,
        /// Environment variables that the server does not get: without those of the model it plays the demo.
        #[serde(default)]
        without: Vec<String>,
    },
    /// SIGKILL for the server.
    Kill,
    /// The server again, on the same port, with the same token unless it gets another one.
    Start {
        #[serde(default)]
        token: Option<String>,
    },
    /// A session of this key with the first run of another one, so many times. The server must not run.
    Lengthen { from: String, to: String, runs: u32 },
    /// Another command on the same data, with a person at its terminal.
    Terminal { arguments: Vec<String> },
    /// Waits until that command has ended.
    TerminalEnded,
}

/// Plays a script; skipped where there is no browser.
pub(super) fn play(name: &str) {
    let Some(mut node) = browser_script(name) else { return };
    let mut node = Running(node.spawn().expect("Node starts"));
    let stderr = node.0.stderr.take().expect("a pipe");
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        BufReader::new(stderr).read_to_string(&mut text).map(|_| text)
    });
    let mut stdin = node.0.stdin.take().expect("a pipe");
    let mut report = String::new();
    let mut stage = Stage::default();
    for line in BufReader::new(node.0.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("a line");
        match line.strip_prefix('@') {
            Some(wish) => answer(&mut stdin, &stage.fulfil(serde_json::from_str(wish).expect("a wish"))),
            None => report.push_str(&format!("{line}\n")),
        }
    }
    let status = node.0.wait().expect("Node ends");
    let complaints = complaints.join().expect("read").expect("text");
    assert!(status.success(), "{name}: {status}\n{report}{complaints}");
    println!("{report}");
    assert_eq!(stage.refused(), Vec::<String>::new(), "every history sent to the model was valid");
}

fn answer(stdin: &mut ChildStdin, answer: &Value) {
    // A script that has failed reads no more; its report says why.
    let _ = writeln!(stdin, "{answer}").and_then(|()| stdin.flush());
}

fn browser_script(name: &str) -> Option<Command> {
    let tmpdir = env!("CARGO_TARGET_TMPDIR");
    let packages = Packages::Browser.folder(tmpdir)?;
    let Some(chromium) =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser"].map(Path::new).into_iter().find(|path| path.exists())
    else {
        skip("there is no chromium: `cargo xtask packages` installs it as root, `apt-get install chromium` elsewhere");
        return None;
    };
    let output = PathBuf::from(tmpdir).join("browser").join(name);
    std::fs::create_dir_all(&output).expect("a folder");
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let mut node = Command::new(node(&packages.with_file_name("npm")));
    node.arg(web.join("tests/browser").join(format!("{name}.mjs")))
        .env("BROWSER_PACKAGES", packages)
        .env("BROWSER", chromium)
        .env("BROWSER_OUTPUT", output)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(node)
}

/// A process that is killed with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What stands behind the page.
#[derive(Default)]
struct Stage {
    served: Option<Served>,
    terminal: Option<Attended>,
    opened: Option<Opened>,
}

struct Opened {
    bench: Bench,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    without: Vec<String>,
    host: String,
}

impl Opened {
    fn serve(&mut self, token: &str) -> Served {
        let mut line = vec!["serve", "--address", &self.host];
        line.extend(self.arguments.iter().map(String::as_str));
        let mut command = self.bench.command(&line);
        // In real time, so that durations are what a person sees, and no question expires on a slow machine.
        command.env("WINDLASS_TEST_CLOCK", "1").env("WINDLASS_SERVE_TOKEN", token).envs(&self.environment);
        for name in &self.without {
            command.env_remove(name);
        }
        // Nobody reads it, and a full pipe would hold up the server.
        command.stderr(Stdio::null());
        let served = Served::started(&mut command);
        self.host.clone_from(&served.host);
        served
    }
}

impl Stage {
    fn fulfil(&mut self, wish: Wish) -> Value {
        match wish {
            Wish::Open { script, arguments, files, settings, environment, without } => {
                self.served = None;
                let script: Script = serde_json::from_value(script).expect("a script");
                let bench = Bench::new(script);
                for (name, text) in files {
                    std::fs::write(bench.workspace().join(name), text).expect("written");
                }
                let folder = bench.dir.path().join(".config/windlass");
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(folder.join("windlass.toml"), settings).expect("written");
                let host = "127.0.0.1:0".to_owned();
                self.opened = Some(Opened { bench, arguments, environment, without, host });
                self.start(TOKEN)
            }
            Wish::Kill => {
                self.served = None;
                json!({})
            }
            Wish::Start { token } => self.start(token.as_deref().unwrap_or(TOKEN)),
            Wish::Lengthen { from, to, runs } => {
                let opened = self.opened.as_ref().expect("open");
                json!({"records": journal::lengthen(&opened.bench.data(), &from, &to, runs)})
            }
            Wish::Terminal { arguments } => {
                let opened = self.opened.as_ref().expect("open");
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                self.terminal = Some(Attended::start(&opened.bench, &arguments, &[]));
                json!({})
            }
            Wish::TerminalEnded => {
                let ran = self.terminal.take().expect("a terminal").ends();
                json!({"code": ran.code, "stdout": ran.stdout, "screen": ran.stderr})
            }
        }
    }

    fn start(&mut self, token: &str) -> Value {
        let opened = self.opened.as_mut().expect("open");
        let served = opened.serve(token);
        let url = format!("http://{}", served.host);
        self.served = Some(served);
        json!({"url": url, "token": token, "workspace": opened.bench.workspace(), "data": opened.bench.data()})
    }

    fn refused(&self) -> Vec<String> {
        self.opened.as_ref().map(|opened| opened.bench.server.refused()).unwrap_or_default()
    }
}
