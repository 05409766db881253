//! One server and the task that supervises it (P2, P3).
//!
//! A server is connected when it is woken, or when one of its tools is first called. A task then supervises it: it
//! reads changed listings, notices when the server dies, and restarts it after 1, 2 and 4 seconds; after that the
//! server stays down until it is woken again. The known tools, from now or from the last run, can be read at any
//! moment without waiting.

mod keep;
mod login;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use windlass_tools::{ServerStage, Tool};

use crate::config::{ServerConfig, ServerTransport, ServerUse};
use crate::connect::ConnectError;
use crate::connection::ServerConnection;
use crate::http::HttpClients;
use crate::http::tokens::ServerTokens;
use crate::listing::ListedTool;
use crate::memory::ServerMemory;
use crate::name::ServerName;
use crate::notice::{Notice, NoticeKind, SAMPLE, WANTS_LOGIN, printable};
use crate::options::McpOptions;
use crate::state::{ConnectionState, ServerState, UnofferedTool};
use crate::stdio::StderrLog;
use crate::tool::McpTool;

/// A server.
pub(crate) struct Server {
    pub(crate) name: ServerName,
    pub(crate) config: ServerConfig,
    pub(crate) options: Arc<McpOptions>,
    clients: Arc<HttpClients>,
    tokens: Option<ServerTokens>,
    log: StderrLog,
    inner: Mutex<ServerParts>,
    /// Held from reading the memory to saving it, so that no update is lost. Locked before `inner`.
    remembering: Mutex<()>,
    /// Notified of every change of `inner`.
    changed: watch::Sender<()>,
    /// Notified by tasks that wait for the connection.
    hurry: Notify,
    /// Cancelled at shutdown.
    stop: CancellationToken,
}

struct ServerParts {
    phase: ConnectionPhase,
    start: Start,
    memory: ServerMemory,
    tools: Vec<Arc<dyn Tool>>,
    left_out: Vec<UnofferedTool>,
    last_error: Option<String>,
}

/// Whether calls wait for a server that is not connected. They don't wait for one that failed to start, until it is
/// woken for the next run; it may still connect meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Awaited,
    Missed,
}

/// The phase of a server's connection.
#[derive(Clone)]
enum ConnectionPhase {
    Idle,
    Connecting,
    Connected(Arc<ServerConnection>),
    Restarting,
    NeedsAuth { challenge: Option<String> },
    Failed,
    Closed,
}

impl ConnectionPhase {
    fn connection(&self) -> Option<&ServerConnection> {
        if let Self::Connected(connection) = self { Some(connection) } else { None }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("name", &self.name).field("config", &self.config).finish_non_exhaustive()
    }
}

impl Server {
    pub(crate) fn new(
        name: ServerName,
        config: ServerConfig,
        options: &Arc<McpOptions>,
        clients: &Arc<HttpClients>,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let memory = match &options.memory {
            Some(folder) => ServerMemory::load(folder, &name, &config),
            None => ServerMemory::default(),
        };
        let tokens = match &config.reach {
            ServerTransport::Stdio { .. } => None,
            ServerTransport::Http { url, .. } => Some(ServerTokens::of(&name, url, options.tokens.as_deref())),
        };
        let inner = ServerParts {
            phase: ConnectionPhase::Idle,
            start: Start::Awaited,
            memory,
            tools: Vec::new(),
            left_out: Vec::new(),
            last_error: None,
        };
        let server = Arc::new(Self {
            name,
            config,
            options: Arc::clone(options),
            clients: Arc::clone(clients),
            tokens,
            log: StderrLog::default(),
            inner: Mutex::new(inner),
            remembering: Mutex::default(),
            changed: watch::Sender::new(()),
            hurry: Notify::new(),
            stop,
        });
        let tools = server.make_tools(&server.lock_memory());
        server.lock().tools = tools;
        server
    }

    fn lock(&self) -> MutexGuard<'_, ServerParts> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current phase, as a copy: a guard in the head of a `match` would be held through its arms.
    fn phase(&self) -> ConnectionPhase {
        self.lock().phase.clone()
    }

    fn start(&self) -> Start {
        self.lock().start
    }

    fn remembering(&self) -> MutexGuard<'_, ()> {
        self.remembering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_memory(&self) -> ServerMemory {
        self.lock().memory.clone()
    }

    /// Starts connecting unless connected, and returns at once. Needs a Tokio runtime.
    pub(crate) fn wake(self: &Arc<Self>) {
        let mut inner = self.lock();
        inner.start = Start::Awaited;
        let asleep = match inner.phase {
            ConnectionPhase::Idle | ConnectionPhase::Failed | ConnectionPhase::NeedsAuth { .. } => true,
            ConnectionPhase::Connecting
            | ConnectionPhase::Connected(_)
            | ConnectionPhase::Restarting
            | ConnectionPhase::Closed => false,
        };
        if let (true, ServerUse::Enabled, Ok(runtime)) =
            (asleep, self.config.usage, tokio::runtime::Handle::try_current())
        {
            // Drop a wake-up left over from the previous connection.
            self.hurry.notified().now_or_never();
            inner.phase = ConnectionPhase::Connecting;
            runtime.spawn(Arc::clone(self).keep());
        }
    }

    /// Waits for the connection; the error says why there is none.
    pub(crate) async fn connected(self: &Arc<Self>) -> Result<Arc<ServerConnection>, String> {
        let mut changes = self.changed.subscribe();
        if matches!(self.phase(), ConnectionPhase::Idle) {
            self.wake();
        }
        self.hurry.notify_one();
        loop {
            match self.phase() {
                ConnectionPhase::Connected(connection) if !connection.gone.is_cancelled() => return Ok(connection),
                ConnectionPhase::Restarting if self.start() == Start::Missed => {
                    return Err(self.lock().last_error.clone().unwrap_or_default());
                }
                ConnectionPhase::Connected(_) | ConnectionPhase::Connecting | ConnectionPhase::Restarting => {}
                ConnectionPhase::Idle if self.config.usage == ServerUse::Disabled => return Err("is disabled".into()),
                ConnectionPhase::Idle => return Err("can't be reached outside of a runtime".into()),
                ConnectionPhase::NeedsAuth { .. } => return Err(WANTS_LOGIN.into()),
                ConnectionPhase::Failed => return Err(self.lock().last_error.clone().unwrap_or_default()),
                ConnectionPhase::Closed => return Err("was shut down".into()),
            }
            if changes.changed().await.is_err() {
                return Err("was shut down".into());
            }
        }
    }

    /// Waits until the server is connected or given up.
    pub(crate) async fn settled(&self) {
        let mut changes = self.changed.subscribe();
        self.hurry.notify_one();
        loop {
            match self.phase() {
                ConnectionPhase::Restarting if self.start() == Start::Missed => return,
                ConnectionPhase::Connecting | ConnectionPhase::Restarting => {}
                ConnectionPhase::Idle
                | ConnectionPhase::Connected(_)
                | ConnectionPhase::NeedsAuth { .. }
                | ConnectionPhase::Failed
                | ConnectionPhase::Closed => return,
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until the server has ended after a shutdown.
    pub(crate) async fn closed(&self) {
        let mut changes = self.changed.subscribe();
        loop {
            match self.phase() {
                ConnectionPhase::Connecting | ConnectionPhase::Connected(_) | ConnectionPhase::Restarting => {}
                ConnectionPhase::Idle
                | ConnectionPhase::NeedsAuth { .. }
                | ConnectionPhase::Failed
                | ConnectionPhase::Closed => {
                    return self.set(ConnectionPhase::Closed);
                }
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// The progress of the connection, once the server was woken.
    pub(crate) fn stage(&self) -> Option<ServerStage> {
        let (inner, limit) = (self.lock(), self.config.startup_timeout);
        let starting = || match inner.memory.tools {
            None => ServerStage::Awaited { limit },
            Some(_) => ServerStage::Remembered { limit },
        };
        let missed = |reason: Option<String>| ServerStage::Missed { reason: reason.unwrap_or_default() };
        match (&inner.phase, inner.start) {
            (ConnectionPhase::Idle, _) => None,
            (ConnectionPhase::Connecting, _) | (ConnectionPhase::Restarting, Start::Awaited) => Some(starting()),
            (ConnectionPhase::Connected(_), _) => Some(ServerStage::Listed),
            (ConnectionPhase::NeedsAuth { .. }, _) => Some(missed(Some(WANTS_LOGIN.into()))),
            (ConnectionPhase::Failed, _) | (ConnectionPhase::Restarting, Start::Missed) => {
                Some(missed(inner.last_error.clone()))
            }
            (ConnectionPhase::Closed, _) => Some(missed(Some("was shut down".into()))),
        }
    }

    /// The tools known now.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        match self.config.usage {
            ServerUse::Enabled => self.lock().tools.clone(),
            ServerUse::Disabled => Vec::new(),
        }
    }

    /// Checks that the server still has exactly this tool; the error says what changed.
    pub(crate) fn still_has(&self, tool: &ListedTool) -> Result<(), String> {
        let inner = self.lock();
        let now = inner.memory.tools.iter().flatten().find(|listed| listed.name == tool.name);
        match now {
            Some(listed) if listed == tool => Ok(()),
            Some(_) => Err("its server has changed what it says it does since it was offered".into()),
            None => Err("its server does not have it any more".into()),
        }
    }

    pub(crate) fn state(&self) -> ServerState {
        let inner = self.lock();
        let state = match (&inner.phase, self.config.usage) {
            (_, ServerUse::Disabled) => ConnectionState::Disabled,
            (ConnectionPhase::Idle, ServerUse::Enabled) => ConnectionState::Idle,
            (ConnectionPhase::Connecting, ServerUse::Enabled) => ConnectionState::Connecting,
            (ConnectionPhase::Connected(_), ServerUse::Enabled) => ConnectionState::Connected,
            (ConnectionPhase::Restarting, ServerUse::Enabled) => ConnectionState::Restarting,
            (ConnectionPhase::NeedsAuth { .. }, ServerUse::Enabled) => ConnectionState::NeedsAuth,
            (ConnectionPhase::Failed, ServerUse::Enabled) => ConnectionState::Failed,
            (ConnectionPhase::Closed, ServerUse::Enabled) => ConnectionState::Closed,
        };
        let connection = inner.phase.connection();
        let known = ServerState::new(&self.name, state, connection, &inner.memory, &inner.tools);
        let (left_out, last_error) = (inner.left_out.clone(), inner.last_error.clone());
        ServerState { left_out, last_error, log_tail: self.log.last_lines(), ..known }
    }

    /// Accepts the server's tools as they are now.
    pub(crate) fn accept(self: &Arc<Self>) {
        let _alone = self.remembering();
        let mut memory = self.lock_memory();
        let now = memory.tools.clone().unwrap_or_default();
        memory.accepted.extend(now.into_iter().map(|tool| (tool.name.clone(), tool)));
        self.remember(memory);
    }

    /// The workspace as a URI for servers.
    pub(crate) fn root_uri(&self) -> Option<String> {
        let root = self.options.root.as_ref()?;
        url::Url::from_directory_path(root).ok().map(String::from)
    }

    fn sentence(&self, unreached: &ConnectError) -> String {
        match unreached {
            ConnectError::NeedsAuth { .. } => WANTS_LOGIN.to_owned(),
            ConnectError::Failed(reason) => self.options.secrets.scrub(reason).into_owned(),
        }
    }

    pub(crate) fn publish(&self, what: NoticeKind) {
        (self.options.notice)(Notice { server: self.name.clone(), what });
    }

    fn set(&self, phase: ConnectionPhase) {
        let mut inner = self.lock();
        if !matches!(inner.phase, ConnectionPhase::Closed) {
            inner.phase = phase;
        }
        drop(inner);
        self.changed.send_replace(());
    }

    fn publish_scrubbed(&self, what: NoticeKind) {
        self.publish(self.scrubbed(what));
    }

    /// Removes secrets from a server's texts in a notice, and makes them safe to display and short.
    fn scrubbed(&self, what: NoticeKind) -> NoticeKind {
        match what {
            NoticeKind::Garbage { fault, sample, times } => {
                let sample = printable(&self.options.secrets.scrub_beginning(&sample), SAMPLE);
                NoticeKind::Garbage { fault, sample, times }
            }
            NoticeKind::ToolSkipped { tool, reason } => {
                let clean = |text: &str, chars| printable(&self.options.secrets.scrub(text), chars);
                NoticeKind::ToolSkipped { tool: clean(&tool, 60), reason: clean(&reason, 300) }
            }
            other => other,
        }
    }

    /// Stores the new memory. The caller holds `remembering` while it changes the memory.
    fn remember(self: &Arc<Self>, memory: ServerMemory) {
        if let Some(folder) = &self.options.memory
            && memory != self.lock_memory()
            && let Err(error) = memory.save(folder, &self.name, &self.config)
        {
            self.publish(NoticeKind::NotRemembered { reason: error.to_string() });
        }
        let tools = self.make_tools(&memory);
        let mut inner = self.lock();
        inner.tools = tools;
        inner.memory = memory;
        drop(inner);
        self.changed.send_replace(());
    }

    fn make_tools(self: &Arc<Self>, memory: &ServerMemory) -> Vec<Arc<dyn Tool>> {
        let tool = |listed| Arc::new(McpTool::new(self, listed, memory.before(listed))) as Arc<dyn Tool>;
        memory.tools.iter().flatten().map(tool).collect()
    }
}
