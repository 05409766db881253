//! All servers of a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use windlass_tools::{BoxFuture, ServerStage, Tool, ToolServers};

use crate::config::ServerConfig;
use crate::http::HttpClients;
use crate::http::login::LoginError;
use crate::http::tokens::Logout;
use crate::name::ServerName;
use crate::options::{McpOptions, ShowUrl};
use crate::server::Server;
use crate::state::ServerState;

/// Time limit for shutting down all servers together.
const SHUTDOWN: Duration = Duration::from_secs(15);

/// All servers of a configuration: connected when they are needed, and supervised. Cheap to clone; dropping the last
/// clone ends them.
#[derive(Clone)]
pub struct Servers {
    all: Arc<AllServers>,
}

struct AllServers {
    servers: BTreeMap<ServerName, Arc<Server>>,
    withheld: BTreeSet<ServerName>,
    stop: CancellationToken,
    _let_go: DropGuard,
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.all.servers.keys()).finish()
    }
}

/// Why a server is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// There is no server of that name.
    #[error("there is no MCP server `{0}`")]
    Unknown(ServerName),
    /// The server could not be connected.
    #[error("MCP server `{server}` {reason}")]
    Unavailable {
        /// The server.
        server: ServerName,
        /// Why.
        reason: String,
    },
}

impl Servers {
    /// Returns the servers of this configuration. Nothing is started; remembered data about them is loaded.
    #[must_use]
    pub fn new(configs: BTreeMap<ServerName, ServerConfig>, options: McpOptions) -> Self {
        let stop = CancellationToken::new();
        let clients = Arc::new(HttpClients::through(options.proxy.clone()));
        let withheld = options.withheld.clone();
        let options = Arc::new(options);
        let server = |(name, config): (ServerName, ServerConfig)| {
            let server = Server::new(name.clone(), config, &options, &clients, stop.clone());
            (name, server)
        };
        let servers = configs.into_iter().map(server).collect();
        Self { all: Arc::new(AllServers { servers, withheld, _let_go: stop.clone().drop_guard(), stop }) }
    }

    /// The state of each server.
    #[must_use]
    pub fn states(&self) -> Vec<ServerState> {
        self.all.servers.values().map(|server| server.state()).collect()
    }

    /// Connects to a server, again if it failed before, and returns its state.
    pub async fn connect(&self, name: &ServerName) -> Result<ServerState, ServerError> {
        let server = self.server(name)?;
        server.wake();
        let unavailable = |reason| ServerError::Unavailable { server: name.clone(), reason };
        server.connected().await.map_err(unavailable)?;
        Ok(server.state())
    }

    /// Accepts a server's tools as they are now.
    pub fn accept(&self, name: &ServerName) -> Result<(), ServerError> {
        self.server(name)?.accept();
        Ok(())
    }

    /// Logs in to a server; calls `show` with the address a person must open in a browser.
    pub async fn login(&self, name: &ServerName, show: ShowUrl) -> Result<(), LoginError> {
        let server = self.all.servers.get(name).ok_or(LoginError::Unknown)?;
        server.login(&show).await
    }

    /// Deletes the login to a server.
    pub fn logout(&self, name: &ServerName) -> Result<Logout, LoginError> {
        self.all.servers.get(name).ok_or(LoginError::Unknown)?.logout()
    }

    /// Ends all servers: closes their input, then sends a signal, then kills them.
    pub async fn shutdown(&self) {
        self.all.stop.cancel();
        let ended = join_all(self.all.servers.values().map(|server| server.closed()));
        let _ = timeout(SHUTDOWN, ended).await;
    }

    fn server(&self, name: &ServerName) -> Result<&Arc<Server>, ServerError> {
        self.all.servers.get(name).ok_or_else(|| ServerError::Unknown(name.clone()))
    }
}

impl ToolServers for Servers {
    fn wake(&self) {
        self.all.servers.values().for_each(Server::wake);
    }

    fn names(&self) -> Vec<String> {
        self.all.servers.keys().chain(&self.all.withheld).map(ToString::to_string).collect()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.all.servers.values().flat_map(|server| server.tools()).collect()
    }

    fn stages(&self) -> BTreeMap<String, ServerStage> {
        let stages = self.all.servers.values().map(|server| Some((server.name.to_string(), server.stage()?)));
        stages.flatten().collect()
    }

    fn settled(&self, servers: Vec<String>) -> BoxFuture<'static, ()> {
        let all = self.all.servers.values();
        let named: Vec<_> =
            all.filter(|server| servers.iter().any(|name| name == server.name.as_str())).cloned().collect();
        Box::pin(async move {
            join_all(named.iter().map(|server| server.settled())).await;
        })
    }
}
