//! Test environment: third-party servers, connected by our client under our guard.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use windlass_conformance::person::{self, MadeCall};
use windlass_mcp::{McpOptions, ServerState, Servers, servers_from_json};
use windlass_testkit::{Packages, node};
use windlass_tools::{GuardProgram, Tool, ToolServers as _};
use windlass_vocab::OutcomeKind;

/// Time limit on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder, and the servers that work in it.
pub(crate) struct Room {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) servers: Servers,
    notices: Arc<Mutex<Vec<String>>>,
    mark: String,
}

/// A server as a user configures it: its name and its entry in the `mcpServers` object.
pub(crate) type Entry = (&'static str, Value);

/// The folder of the npm packages, if they are installed.
pub(crate) fn npm() -> Option<PathBuf> {
    Packages::Npm.folder(env!("CARGO_TARGET_TMPDIR"))
}

/// The folder of the PyPI packages, if they are installed.
pub(crate) fn python() -> Option<PathBuf> {
    Packages::Python.folder(env!("CARGO_TARGET_TMPDIR"))
}

/// A server from npm.
pub(crate) fn from_npm(npm: &Path, name: &'static str, program: &str, args: &[&Path]) -> Entry {
    let mut words = vec![json!(npm.join("node_modules/.bin").join(program))];
    words.extend(args.iter().map(|arg| json!(arg)));
    (name, json!({"command": node(npm), "args": words}))
}

/// A server from PyPI.
pub(crate) fn from_python(python: &Path, name: &'static str, program: &str, args: &[&str]) -> Entry {
    (name, json!({"command": python.join("bin").join(program), "args": args}))
}

impl Room {
    pub(crate) fn new(dir: tempfile::TempDir, entries: impl IntoIterator<Item = Entry>) -> Self {
        let mark = format!("WINDLASS_PROOF={}", dir.path().display());
        let entries: Map<String, Value> = entries.into_iter().map(|(name, entry)| (name.into(), entry)).collect();
        let mut configs = servers_from_json(&Value::Object(entries)).unwrap();
        for config in configs.values_mut() {
            config.startup_timeout = PATIENCE;
            let windlass_mcp::ServerTransport::Stdio { env, .. } = &mut config.reach else { unreachable!() };
            env.insert("WINDLASS_PROOF".into(), dir.path().display().to_string());
        }
        let notices = Arc::<Mutex<Vec<String>>>::default();
        let told = Arc::clone(&notices);
        let options = McpOptions {
            guard: Some(GuardProgram {
                program: env!("CARGO_BIN_EXE_windlass-conformance").into(),
                args: vec![windlass_conformance::GUARD.into()],
            }),
            root: Some(dir.path().to_owned()),
            notice: Arc::new(move |notice| told.lock().unwrap().push(notice.to_string())),
            ..McpOptions::default()
        };
        Self { servers: Servers::new(configs, options), dir, notices, mark }
    }

    pub(crate) async fn connect(&self, server: &str) -> ServerState {
        self.servers.connect(&server.parse().unwrap()).await.unwrap()
    }

    /// The notices so far.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap().clone()
    }

    /// Returns the tool of that name, which may be listed only some time after the connection.
    pub(crate) async fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let begun = Instant::now();
        loop {
            if let Some(tool) = self.servers.tools().into_iter().find(|tool| tool.spec().name.to_string() == name) {
                return tool;
            }
            assert!(begun.elapsed() < PATIENCE, "`{name}` is not listed");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Makes a call that must succeed.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> MadeCall {
        let made = person::call(self.tool(name).await.as_ref(), &arguments).await;
        assert_eq!(made.outcome.kind, OutcomeKind::Ok, "{name}: {}", made.outcome.text);
        made
    }

    /// Shuts the servers down and asserts that no process is left.
    pub(crate) async fn close(self) {
        self.servers.shutdown().await;
        assert_eq!(marked(&self.mark), Vec::<String>::new(), "processes are left");
    }
}

/// Returns the processes with this entry in their environment, which their descendants inherit.
fn marked(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_marked = |environment: Vec<u8>| environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
    processes
        .filter(|entry| std::fs::read(entry.path().join("environ")).is_ok_and(is_marked))
        .map(|entry| String::from_utf8_lossy(&std::fs::read(entry.path().join("cmdline")).unwrap_or_default()).into())
        .collect()
}
