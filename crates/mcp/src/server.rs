//! One server and whoever looks after it (P2, P3).
//!
//! A server is reached when it is woken, or when one of its tools is first called. A task then keeps
//! it: it takes in changed listings, sees the server die, and starts it again after 1, 2 and 4
//! seconds; after that it is left alone until it is woken the next time. What is known of its tools,
//! from now or from last time, can be had at any moment without waiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use windlass_tools::Tool;

use crate::config::{Reach, ServerConfig, Use};
use crate::connect::{Attempt, Unreached};
use crate::connection::Connection;
use crate::handshake::Era;
use crate::http::Clients;
use crate::http::login::{LoginError, login};
use crate::http::tokens::Tokens;
use crate::listing::{self, Listing};
use crate::memory::Memory;
use crate::name::ServerName;
use crate::notice::{Notice, NoticeKind};
use crate::options::{Options, ShowUrl};
use crate::state::{ServerState, State};
use crate::tool::McpTool;

/// How often a server that died is started again, and how long before the first time.
const RESTARTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// A server that lived so long may die afresh.
const STEADY: Duration = Duration::from_secs(60);
/// How often a person is sent to log in before a server is given up: what is asked of them may change
/// between two requests, and whom they log in with.
const LOGINS: usize = 2;
/// How long changes of a listing are gathered before it is asked for again.
const GATHER: Duration = Duration::from_millis(250);
/// How long between two such questions, however often the server says that it has changed.
const BETWEEN: Duration = Duration::from_secs(5);

/// A server.
pub(crate) struct Server {
    pub(crate) name: ServerName,
    pub(crate) config: ServerConfig,
    pub(crate) options: Arc<Options>,
    clients: Arc<Clients>,
    tokens: Option<Tokens>,
    inner: Mutex<Inner>,
    /// Rung at every change of `inner`.
    bell: watch::Sender<()>,
    /// Cancelled at shutdown.
    stop: CancellationToken,
}

struct Inner {
    standing: Standing,
    memory: Memory,
    tools: Vec<Arc<dyn Tool>>,
    last_error: Option<String>,
}

/// Where a server is.
#[derive(Clone)]
enum Standing {
    Idle,
    Connecting,
    Connected(Arc<Connection>),
    Restarting,
    NeedsAuth { challenge: Option<String> },
    Failed,
    Closed,
}

/// How a time of being connected ended.
enum Parting {
    Gone,
    Stopped,
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
        options: &Arc<Options>,
        clients: &Arc<Clients>,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let memory = match &options.memory {
            Some(folder) => Memory::load(folder, &name, &config),
            None => Memory::default(),
        };
        let tokens = match &config.reach {
            Reach::Stdio { .. } => None,
            Reach::Http { url, .. } => Some(Tokens::of(&name, url, options.tokens.as_deref())),
        };
        let inner = Inner { standing: Standing::Idle, memory, tools: Vec::new(), last_error: None };
        let server = Arc::new(Self {
            name,
            config,
            options: Arc::clone(options),
            clients: Arc::clone(clients),
            tokens,
            inner: Mutex::new(inner),
            bell: watch::Sender::new(()),
            stop,
        });
        let tools = server.made(&server.lock_memory());
        server.lock().tools = tools;
        server
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_memory(&self) -> Memory {
        self.lock().memory.clone()
    }

    /// Begins to reach it if it is not reached, and returns at once. Needs a runtime to do it in.
    pub(crate) fn wake(self: &Arc<Self>) {
        let mut inner = self.lock();
        let asleep = match inner.standing {
            Standing::Idle | Standing::Failed | Standing::NeedsAuth { .. } => true,
            Standing::Connecting | Standing::Connected(_) | Standing::Restarting | Standing::Closed => false,
        };
        if let (true, Use::Enabled, Ok(runtime)) = (asleep, self.config.usage, tokio::runtime::Handle::try_current()) {
            inner.standing = Standing::Connecting;
            runtime.spawn(Arc::clone(self).keep());
        }
    }

    /// The connection, once it is there; or why there is none.
    pub(crate) async fn connected(self: &Arc<Self>) -> Result<Arc<Connection>, String> {
        let mut bell = self.bell.subscribe();
        if matches!(self.lock().standing, Standing::Idle) {
            self.wake();
        }
        loop {
            // The lock is free again before any arm: one of them takes it anew.
            let standing = self.lock().standing.clone();
            match standing {
                Standing::Connected(connection) if !connection.gone.is_cancelled() => return Ok(connection),
                Standing::Connected(_) | Standing::Connecting | Standing::Restarting => {}
                Standing::Idle if self.config.usage == Use::Disabled => return Err("is disabled".into()),
                Standing::Idle => return Err("can't be reached outside of a runtime".into()),
                Standing::NeedsAuth { .. } => return Err(self.wants_login()),
                Standing::Failed => return Err(self.lock().last_error.clone().unwrap_or_default()),
                Standing::Closed => return Err("was shut down".into()),
            }
            if bell.changed().await.is_err() {
                return Err("was shut down".into());
            }
        }
    }

    /// Waits until it is there or given up.
    pub(crate) async fn settled(&self) {
        let mut bell = self.bell.subscribe();
        loop {
            match self.lock().standing {
                Standing::Connecting | Standing::Restarting => {}
                Standing::Idle
                | Standing::Connected(_)
                | Standing::NeedsAuth { .. }
                | Standing::Failed
                | Standing::Closed => return,
            }
            if bell.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until it has ended, after it was told to.
    pub(crate) async fn closed(&self) {
        let mut bell = self.bell.subscribe();
        loop {
            let mut inner = self.lock();
            match inner.standing {
                Standing::Connecting | Standing::Connected(_) | Standing::Restarting => {}
                Standing::Idle | Standing::NeedsAuth { .. } | Standing::Failed | Standing::Closed => {
                    inner.standing = Standing::Closed;
                    return;
                }
            }
            drop(inner);
            if bell.changed().await.is_err() {
                return;
            }
        }
    }

    /// Whether it is being reached and nothing is known of its tools yet.
    pub(crate) fn is_awaited(&self) -> bool {
        let inner = self.lock();
        matches!(inner.standing, Standing::Connecting | Standing::Restarting) && inner.memory.tools.is_none()
    }

    /// The tools known now.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        match self.config.usage {
            Use::Enabled => self.lock().tools.clone(),
            Use::Disabled => Vec::new(),
        }
    }

    /// Whether the tool is still what `fingerprint` says; the sentence otherwise says what became of it.
    pub(crate) fn still_has(&self, tool: &str, fingerprint: &str) -> Result<(), String> {
        let inner = self.lock();
        let now = inner.memory.tools.iter().flatten().find(|listed| listed.name == tool);
        match now {
            Some(listed) if listed.fingerprint() == fingerprint => Ok(()),
            Some(_) => Err("its server has changed what it says it does since it was offered".into()),
            None => Err("its server does not have it any more".into()),
        }
    }

    pub(crate) fn state(&self) -> ServerState {
        let inner = self.lock();
        let state = match (&inner.standing, self.config.usage) {
            (_, Use::Disabled) => State::Disabled,
            (Standing::Idle, Use::Enabled) => State::Idle,
            (Standing::Connecting, Use::Enabled) => State::Connecting,
            (Standing::Connected(_), Use::Enabled) => State::Connected,
            (Standing::Restarting, Use::Enabled) => State::Restarting,
            (Standing::NeedsAuth { .. }, Use::Enabled) => State::NeedsAuth,
            (Standing::Failed, Use::Enabled) => State::Failed,
            (Standing::Closed, Use::Enabled) => State::Closed,
        };
        let connection = match &inner.standing {
            Standing::Connected(connection) => Some(Arc::clone(connection)),
            _ => None,
        };
        ServerState::new(
            &self.name,
            state,
            connection.as_deref(),
            &inner.memory,
            &inner.tools,
            inner.last_error.clone(),
        )
    }

    /// Takes its tools as they are now for what they should be.
    pub(crate) fn accept(self: &Arc<Self>) {
        let mut memory = self.lock_memory();
        let now = memory.tools.clone().unwrap_or_default();
        memory.accepted.extend(now.into_iter().map(|tool| (tool.name.clone(), tool)));
        self.remember(memory);
    }

    /// Logs in, and reaches it with what that brought.
    pub(crate) async fn login(self: &Arc<Self>, show: &ShowUrl) -> Result<(), LoginError> {
        let Some(tokens) = &self.tokens else {
            return Err(LoginError::NotHttp);
        };
        let challenge = match &self.lock().standing {
            Standing::NeedsAuth { challenge } => challenge.clone(),
            _ => None,
        };
        let challenge = match challenge {
            Some(challenge) => Some(challenge),
            None => match self.attempt(None).reach().await {
                Err(Unreached::NeedsAuth { challenge }) => challenge,
                Err(Unreached::Failed(_)) | Ok(_) => None,
            },
        };
        self.authorize(tokens, challenge.as_deref(), show).await
    }

    async fn authorize(&self, tokens: &Tokens, challenge: Option<&str>, show: &ShowUrl) -> Result<(), LoginError> {
        match self.config.expanded(&self.name, &*self.options.variables)? {
            Reach::Stdio { .. } => Err(LoginError::NotHttp),
            Reach::Http { url, oauth, .. } => {
                let shown = |address: &str| show(&self.name, address);
                login(&self.clients, &url, &oauth, tokens, challenge, &shown).await
            }
        }
    }

    /// A call was told that more authority is needed: gets it, if a person watches, and reaches the
    /// server anew.
    pub(crate) async fn step_up(self: &Arc<Self>, challenge: Option<&str>) -> Result<(), String> {
        let (Some(show), Some(tokens)) = (&self.options.log_in, &self.tokens) else {
            return Err(self.wants_login());
        };
        self.authorize(tokens, challenge, show).await.map_err(|error| error.to_string())?;
        let connection = match &self.lock().standing {
            Standing::Connected(connection) => Some(Arc::clone(connection)),
            _ => None,
        };
        if let Some(connection) = connection {
            self.set(Standing::Connecting);
            let (fresh, listing) = self.reach_once(None).await.map_err(|unreached| self.sentence(&unreached))?;
            connection.close().await;
            self.take_in(&fresh, listing);
            self.set(Standing::Connected(Arc::new(fresh)));
        }
        Ok(())
    }

    /// Forgets the tokens.
    pub(crate) fn logout(&self) -> std::io::Result<()> {
        self.tokens.as_ref().map_or(Ok(()), Tokens::forget)
    }

    /// The workspace, as servers are told of it.
    pub(crate) fn root_uri(&self) -> Option<String> {
        let root = self.options.root.as_ref()?;
        url::Url::from_directory_path(root).ok().map(String::from)
    }

    pub(crate) fn wants_login(&self) -> String {
        format!("wants you to log in: run `windlass mcp login {}`", self.name)
    }

    fn sentence(&self, unreached: &Unreached) -> String {
        match unreached {
            Unreached::NeedsAuth { .. } => self.wants_login(),
            Unreached::Failed(reason) => self.options.secrets.scrub(reason).into_owned(),
        }
    }

    pub(crate) fn tell(&self, what: NoticeKind) {
        (self.options.notice)(Notice { server: self.name.clone(), what });
    }

    fn set(&self, standing: Standing) {
        let mut inner = self.lock();
        if !matches!(inner.standing, Standing::Closed) {
            inner.standing = standing;
        }
        drop(inner);
        self.bell.send_replace(());
    }

    fn attempt(self: &Arc<Self>, era: Option<Era>) -> Attempt<'_> {
        let server = Arc::downgrade(self);
        Attempt {
            server: &self.name,
            config: &self.config,
            options: &self.options,
            clients: &self.clients,
            tokens: self.tokens.as_ref(),
            era,
            tell: Arc::new(move |what| {
                if let Some(server) = server.upgrade() {
                    server.tell_scrubbed(what);
                }
            }),
        }
    }

    fn tell_scrubbed(&self, what: NoticeKind) {
        self.tell(match what {
            NoticeKind::Garbage { fault, sample, times } => {
                let sample = self.options.secrets.scrub(&sample).into_owned();
                NoticeKind::Garbage { fault, sample, times }
            }
            other => other,
        });
    }

    /// The life of a server, from being woken to being given up.
    async fn keep(self: Arc<Self>) {
        let mut deaths = 0;
        loop {
            let stop = self.stop.clone();
            let reached = tokio::select! {
                reached = self.reach_logging_in() => reached,
                () = stop.cancelled() => return self.set(Standing::Closed),
            };
            let reason = match reached {
                Ok((connection, listing)) => {
                    let since = Instant::now();
                    self.lock().last_error = None;
                    self.take_in(&connection, listing);
                    self.set(Standing::Connected(Arc::new(connection)));
                    match self.attend().await {
                        Parting::Stopped => return self.set(Standing::Closed),
                        Parting::Gone => {}
                    }
                    if since.elapsed() >= STEADY {
                        deaths = 0;
                    }
                    self.lock().last_error.clone().unwrap_or_default()
                }
                Err(Unreached::NeedsAuth { challenge }) => return self.needs_auth(challenge),
                Err(Unreached::Failed(reason)) if deaths == 0 => return self.give_up(&reason),
                Err(Unreached::Failed(reason)) => reason,
            };
            if deaths == RESTARTS {
                return self.give_up(&reason);
            }
            deaths += 1;
            self.restart_later(&reason, deaths).await;
        }
    }

    async fn restart_later(&self, reason: &str, attempt: u32) {
        let reason = self.options.secrets.scrub(reason).into_owned();
        self.lock().last_error = Some(reason.clone());
        self.set(Standing::Restarting);
        self.tell(NoticeKind::Restarting { reason, attempt });
        let wait = FIRST_WAIT * 2u32.pow(attempt - 1);
        tokio::select! {
            () = sleep(wait) => {}
            () = self.stop.cancelled() => {}
        }
    }

    fn give_up(&self, reason: &str) {
        let reason = self.options.secrets.scrub(reason).into_owned();
        self.lock().last_error = Some(reason.clone());
        self.set(Standing::Failed);
        self.tell(NoticeKind::Unavailable { reason });
    }

    fn needs_auth(&self, challenge: Option<String>) {
        self.lock().last_error = Some(self.wants_login());
        self.set(Standing::NeedsAuth { challenge });
        self.tell(NoticeKind::NeedsAuth);
    }

    /// Reaches it, logging in on the way if a person watches.
    async fn reach_logging_in(self: &Arc<Self>) -> Result<(Connection, Listing), Unreached> {
        let era = self.lock().memory.handshake.map(Era::from);
        let mut reached = self.reach_once(era).await;
        for _ in 0..LOGINS {
            let (Err(Unreached::NeedsAuth { challenge }), Some(show), Some(tokens)) =
                (&reached, &self.options.log_in, &self.tokens)
            else {
                break;
            };
            self.authorize(tokens, challenge.as_deref(), show)
                .await
                .map_err(|error| Unreached::Failed(format!("could not be logged in to: {error}")))?;
            reached = self.reach_once(era).await;
        }
        reached
    }

    async fn reach_once(self: &Arc<Self>, era: Option<Era>) -> Result<(Connection, Listing), Unreached> {
        self.attempt(era).reach().await
    }

    /// Stays with a connected server until it is gone or Windlass is.
    async fn attend(self: &Arc<Self>) -> Parting {
        let mut refreshed: Option<Instant> = None;
        loop {
            // A login in mid-call may have put another connection in its place.
            let Standing::Connected(connection) = self.lock().standing.clone() else {
                self.settled().await;
                if self.stop.is_cancelled() || !matches!(self.lock().standing, Standing::Connected(_)) {
                    return Parting::Stopped;
                }
                continue;
            };
            tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    connection.close().await;
                    return Parting::Stopped;
                }
                () = connection.gone.cancelled() => {
                    let now = self.lock().standing.clone();
                    if matches!(&now, Standing::Connected(other) if Arc::ptr_eq(other, &connection)) {
                        self.lock().last_error = Some(connection.why_gone());
                        connection.close().await;
                        return Parting::Gone;
                    }
                }
                () = connection.changed.notified() => {
                    let earliest = refreshed.map_or_else(Instant::now, |at| at + BETWEEN);
                    let wait = GATHER.max(earliest.saturating_duration_since(Instant::now()));
                    tokio::select! {
                        () = sleep(wait) => self.refresh(&connection).await,
                        () = connection.gone.cancelled() => {}
                        () = self.stop.cancelled() => {}
                    }
                    refreshed = Some(Instant::now());
                }
            }
        }
    }

    /// Asks for the tools again, because the server said that they changed.
    async fn refresh(self: &Arc<Self>, connection: &Connection) {
        match timeout(self.config.startup_timeout, listing::list(&connection.peer)).await {
            Ok(Ok(listing)) => self.take_in(connection, listing),
            // It goes on with what it had; if it is gone, that shows elsewhere.
            Ok(Err(_)) | Err(_) => {}
        }
    }

    /// Takes a listing in, tells of what is wrong with it, and remembers it.
    fn take_in(self: &Arc<Self>, connection: &Connection, listing: Listing) {
        for notice in listing.notices {
            self.tell_scrubbed(notice);
        }
        let mut memory = self.lock_memory();
        let version = Some(connection.info.server_info.as_ref().map_or_else(String::new, |info| info.version.clone()));
        // A new version may speak a newer revision: it is found out the next time.
        let updated = memory.version.is_some() && memory.version != version;
        memory.handshake = (!updated).then(|| connection.era.into());
        memory.version = version;
        memory.revision = Some(connection.revision().to_owned());
        let before: Vec<String> = memory.changed().map(|tool| tool.name.clone()).collect();
        memory.learn(&listing.tools);
        for tool in memory.changed().filter(|tool| !before.contains(&tool.name)) {
            self.tell(NoticeKind::ToolChanged { tool: tool.name.clone() });
        }
        self.remember(memory);
    }

    fn remember(self: &Arc<Self>, memory: Memory) {
        if let Some(folder) = &self.options.memory
            && memory != self.lock_memory()
            && let Err(error) = memory.save(folder, &self.name, &self.config)
        {
            self.tell(NoticeKind::NotRemembered { reason: error.to_string() });
        }
        let tools = self.made(&memory);
        let mut inner = self.lock();
        inner.tools = tools;
        inner.memory = memory;
        drop(inner);
        self.bell.send_replace(());
    }

    fn made(self: &Arc<Self>, memory: &Memory) -> Vec<Arc<dyn Tool>> {
        let tool = |listed| Arc::new(McpTool::new(self, listed, memory.before(listed))) as Arc<dyn Tool>;
        memory.tools.iter().flatten().map(tool).collect()
    }
}
