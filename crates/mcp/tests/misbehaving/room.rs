//! A test environment with servers: a healthy one, and those that a test adds.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use windlass_mcp::{
    ConnectionState, McpOptions, Notice, NoticeKind, ServerConfig, ServerName, ServerState, ServerTransport, Servers,
};
use windlass_testkit::mcp::{McpDiary, McpScript};
use windlass_tools::{CallContext, GuardProgram, Tool, ToolServers as _};
use windlass_vocab::{Answer, EffectId, Elicitation, Outcome, QuestionOption, SessionId};

/// Limits on starting a server and on a call, in tests that don't wait for the limit: a loaded machine may be slow.
pub(crate) const STARTUP: Duration = Duration::from_secs(15);
pub(crate) const CALL: Duration = Duration::from_secs(10);
/// Limits in tests that wait for the limit. A good server beside the bad one must start and answer within them, on a
/// loaded machine too.
pub(crate) const SHORT_STARTUP: Duration = Duration::from_secs(4);
pub(crate) const SHORT_CALL: Duration = Duration::from_secs(3);
/// Extra time for a loaded machine on top of any limit.
pub(crate) const SLACK: Duration = Duration::from_secs(10);

/// The limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerLimits {
    /// Long limits, which no test waits for.
    Long,
    /// The server has this long to start.
    Startup(Duration),
    /// Its calls have this long.
    Calls(Duration),
}

impl ServerLimits {
    /// Returns the configuration with these limits.
    pub(crate) fn of(self, config: ServerConfig) -> ServerConfig {
        let (startup_timeout, call_timeout) = match self {
            Self::Long => (STARTUP, CALL),
            Self::Startup(limit) => (limit, CALL),
            Self::Calls(limit) => (STARTUP, limit),
        };
        ServerConfig { startup_timeout, call_timeout, ..config }
    }
}

/// Runs a test; one that hangs fails after a time limit.
pub(crate) fn on_a_runtime(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(50), test).await.expect("a test that hangs");
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
}

pub(crate) struct Room {
    dir: TempDir,
    pub(crate) servers: Servers,
    configs: BTreeMap<ServerName, ServerConfig>,
    notices: Arc<Mutex<Vec<Notice>>>,
    diaries: Vec<McpDiary>,
}

/// A scripted server as a child process that keeps its diary in a folder.
fn stdio(folder: &Path, script: &McpScript) -> ServerConfig {
    std::fs::create_dir_all(folder).unwrap();
    let file = folder.join("script.json");
    std::fs::write(&file, McpScript { diary: Some(folder.to_owned()), ..script.clone() }.to_json()).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let command = text(&std::env::current_exe().unwrap());
    let args = vec!["fake".to_owned(), text(&file)];
    ServerConfig::new(ServerTransport::Stdio { command, args, env: BTreeMap::new(), cwd: None })
}

pub(crate) fn name(text: &str) -> ServerName {
    text.parse().unwrap()
}

impl Room {
    /// A room with a healthy server, `good`, and a misbehaving one, `bad`.
    pub(crate) fn with(limits: ServerLimits, script: McpScript) -> Self {
        Self::of(limits, [("bad", script)])
    }

    /// A room with a healthy server and these.
    pub(crate) fn of<const N: usize>(limits: ServerLimits, scripts: [(&str, McpScript); N]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = |server: &str| dir.path().join(server);
        let servers = scripts.into_iter().map(|(server, script)| (server, limits.of(stdio(&folder(server), &script))));
        let configs = servers.collect();
        Self::build(dir, configs, |_| {})
    }

    /// A room with a healthy server and this one, `bad`.
    pub(crate) fn beside(config: ServerConfig) -> Self {
        Self::build(tempfile::tempdir().unwrap(), BTreeMap::from([("bad", config)]), |_| {})
    }

    /// A room whose servers may send messages of at most this size.
    pub(crate) fn narrow(message_limit: usize, script: &McpScript) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = ServerLimits::Long.of(stdio(&dir.path().join("bad"), script));
        Self::build(dir, BTreeMap::from([("bad", config)]), |options| options.message_limit = message_limit)
    }

    fn build(dir: TempDir, servers: BTreeMap<&str, ServerConfig>, change: impl FnOnce(&mut McpOptions)) -> Self {
        let good = ServerLimits::Long.of(stdio(&dir.path().join("good"), &McpScript::echo()));
        let diaries = servers.keys().chain([&"good"]).map(|server| McpDiary::at(&dir.path().join(server))).collect();
        let configs: BTreeMap<_, _> =
            servers.into_iter().chain([("good", good)]).map(|(server, config)| (name(server), config)).collect();
        let notices = Arc::new(Mutex::new(Vec::new()));
        let mut options = options(&dir, &notices);
        change(&mut options);
        let servers = Servers::new(configs.clone(), options);
        Self { dir, servers, configs, notices, diaries }
    }

    /// Restarts Windlass: the same servers start again, and remembered data is kept.
    pub(crate) async fn next(&mut self) {
        self.servers.shutdown().await;
        self.servers = Servers::new(self.configs.clone(), options(&self.dir, &self.notices));
    }

    pub(crate) fn diary(&self, server: &str) -> McpDiary {
        McpDiary::at(&self.dir.path().join(server))
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.notices.lock().unwrap().clone()
    }

    /// The notices about a server.
    pub(crate) fn notices_of(&self, server: &str) -> Vec<NoticeKind> {
        self.notices().into_iter().filter(|notice| notice.server.as_str() == server).map(|notice| notice.what).collect()
    }

    /// Connects a server within its time limit.
    pub(crate) async fn connect(&self, server: &str) -> Result<ServerState, String> {
        let begun = Instant::now();
        let state = self.servers.connect(&name(server)).await.map_err(|error| error.to_string());
        let limit = self.configs[&name(server)].startup_timeout;
        assert!(begun.elapsed() < limit + SLACK, "{server} took {:?}: {state:?}", begun.elapsed());
        state
    }

    /// Asserts that a server can't be connected; returns why.
    pub(crate) async fn unavailable(&self, server: &str) -> String {
        let why = self.connect(server).await.expect_err("it can't be connected");
        let state = self.state(server);
        assert!(!matches!(state.state, ConnectionState::Connected | ConnectionState::Connecting), "{state:?}");
        assert!(state.last_error.is_some(), "{state:?}");
        why
    }

    pub(crate) fn state(&self, server: &str) -> ServerState {
        self.servers.states().into_iter().find(|state| state.name.as_str() == server).unwrap()
    }

    /// The bare names of a server's tools.
    pub(crate) fn names(&self, server: &str) -> Vec<String> {
        self.state(server).tools.iter().map(|tool| tool.name.bare().to_owned()).collect()
    }

    pub(crate) fn tool(&self, full: &str) -> Arc<dyn Tool> {
        let known = self.servers.tools();
        let found = known.iter().find(|tool| tool.spec().name.0 == full);
        let names = || known.iter().map(|tool| tool.spec().name.0.clone()).collect::<Vec<_>>();
        Arc::clone(found.unwrap_or_else(|| panic!("{full} is not among {:?}", names())))
    }

    /// Calls a tool, within the time limit of a call.
    pub(crate) async fn call(&self, full: &str, arguments: Value) -> Outcome {
        let begun = Instant::now();
        let outcome = self.tool(full).run(context(&nobody()), arguments).await;
        let config = &self.configs[&name(full.split('.').next().unwrap())];
        let limit = config.call_timeout + SLACK;
        assert!(begun.elapsed() < limit, "{full} took {:?}: {:?}", begun.elapsed(), outcome.kind);
        outcome
    }

    /// Asserts that the healthy server still works.
    pub(crate) async fn assert_good(&self) {
        self.connect("good").await.unwrap();
        let outcome = self.call("good.echo", json!({"n": 1})).await;
        assert_eq!(outcome.text, r#"echo heard {"n":1}"#, "{outcome:?}");
    }

    /// Drops everything without a shutdown.
    pub(crate) fn forget(self) {
        drop(self.servers);
    }

    /// Ends everything; asserts that the healthy server worked to the last and that no process is left.
    pub(crate) async fn end(self) {
        self.assert_good().await;
        let begun = Instant::now();
        self.servers.shutdown().await;
        assert!(begun.elapsed() < Duration::from_secs(5) + SLACK, "the shutdown took {:?}", begun.elapsed());
        assert_none_left(&self.diaries).await;
    }
}

/// Waits until no process of these diaries is left.
pub(crate) async fn assert_none_left(diaries: &[McpDiary]) {
    let begun = Instant::now();
    loop {
        let left: Vec<u32> = diaries.iter().flat_map(McpDiary::survivors).collect();
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < SLACK, "still running: {left:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn options(dir: &TempDir, notices: &Arc<Mutex<Vec<Notice>>>) -> McpOptions {
    let told = Arc::clone(notices);
    McpOptions {
        memory: Some(dir.path().join("memory")),
        guard: Some(GuardProgram { program: std::env::current_exe().unwrap(), args: vec!["guard".into()] }),
        notice: Arc::new(move |notice| told.lock().unwrap().push(notice)),
        ..McpOptions::default()
    }
}

/// The context of a call in these tests.
#[derive(Clone)]
pub(crate) struct Around {
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Arc<dyn Fn(&str) + Send + Sync>,
    pub(crate) person: Arc<dyn Fn(Elicitation) -> Answer + Send + Sync>,
}

pub(crate) fn answer(option: QuestionOption) -> Answer {
    Answer::plain(option)
}

/// A context in which nobody answers.
pub(crate) fn nobody() -> Around {
    Around { cancel: CancellationToken::new(), progress: Arc::new(|_| {}), person: Arc::new(|_| Answer::dismissed()) }
}

pub(crate) fn context(around: &Around) -> CallContext {
    let person = Arc::clone(&around.person);
    CallContext {
        effect_id: EffectId::from("effect-1"),
        cancel: around.cancel.clone(),
        progress: Arc::clone(&around.progress),
        ask: Arc::new(move |asked| Box::pin(std::future::ready(person(asked)))),
        ..CallContext::detached(SessionId(uuid::Uuid::nil()))
    }
}
