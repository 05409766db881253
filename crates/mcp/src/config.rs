//! The `mcpServers` object (P1): what is configured of each server.
//!
//! ```
//! use windlass_mcp::{ServerTransport, servers_from_json};
//!
//! let servers = servers_from_json(&serde_json::json!({
//!     "git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"TOKEN": "${GIT_TOKEN:-}"}},
//!     "docs": {"type": "http", "url": "https://example.com/mcp"}
//! }))?;
//! assert!(matches!(servers[&"docs".parse()?].reach, ServerTransport::Http { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `${VAR}` is kept as written and put in when the server is started, so that a missing variable
//! makes one server unavailable and not the whole configuration. Keys of other programs are left alone; what
//! means nothing here is named in [`ServerConfig::unread`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::expand::expand;
use crate::name::{NameError, ServerName};

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    /// A child process, over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What its environment has besides what is inherited.
        env: BTreeMap<String, String>,
        /// Where it runs; Windlass's own folder if nothing is said.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// What every request carries.
        headers: BTreeMap<String, String>,
        /// Who we are to its authorization server, where that is not found out by itself.
        oauth: OAuth,
    },
}

/// What is known beforehand of an HTTP server's authorization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuth {
    /// A client id given out of band.
    pub client_id: Option<String>,
    /// The secret that belongs to it.
    pub client_secret: Option<String>,
    /// The scopes to ask for, instead of those the server names.
    pub scopes: Vec<String>,
    /// Where our client metadata document is published.
    pub client_metadata_url: Option<String>,
    /// Who is authorized.
    pub bearer: TokenSubject,
    /// The loopback port for the redirect, where one must be registered; any free one otherwise.
    pub redirect_port: Option<u16>,
}

/// Whom a token speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenSubject {
    /// A person, who agrees in a browser.
    #[default]
    Person,
    /// The program itself, by its client id and secret.
    Program,
}

/// Whether what a server says of its own tools may decide what is asked about (P3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Every tool of it asks.
    #[default]
    Untrusted,
    /// Its annotations count.
    Trusted,
}

/// Whether a server is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerUse {
    /// It is.
    #[default]
    Enabled,
    /// It is configured, but left alone.
    Disabled,
}

/// Whether a server that is a child process is held by the sandbox (X3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerConfinement {
    /// It has the files and the network of the person.
    #[default]
    Not,
    /// It writes in the workspace alone, reads no secrets and has no network.
    InWorkspace,
}

/// What is configured of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// How it is reached.
    pub reach: ServerTransport,
    /// How long it may take until it has said what tools it has.
    pub startup_timeout: Duration,
    /// How long a call may take.
    pub call_timeout: Duration,
    /// Whether its annotations count.
    pub trust: Trust,
    /// Whether it is used.
    pub usage: ServerUse,
    /// Whether it runs in the sandbox.
    pub sandbox: ServerConfinement,
    /// Tags of all its tools.
    pub tags: BTreeSet<String>,
    /// Tools of it that are polls, by the names it gives them: exempt from the progress guards (L11).
    pub repeatable: BTreeSet<String>,
    /// Keys of its entry that mean nothing here: another program's, or slips.
    pub unread: BTreeSet<String>,
}

/// How long servers may take, unless their entries say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Until a server has said what tools it has.
    pub startup_timeout: Duration,
    /// For one call.
    pub call_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self { startup_timeout: STARTUP_TIMEOUT, call_timeout: CALL_TIMEOUT }
    }
}

/// How long a server may take to start unless its configuration says otherwise.
pub const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a call may take unless the server's configuration says otherwise.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(120);

impl ServerConfig {
    /// A server reached like this, with everything else as usual.
    #[must_use]
    pub fn new(reach: ServerTransport) -> Self {
        Self {
            reach,
            startup_timeout: STARTUP_TIMEOUT,
            call_timeout: CALL_TIMEOUT,
            trust: Trust::default(),
            usage: ServerUse::default(),
            sandbox: ServerConfinement::default(),
            tags: BTreeSet::new(),
            repeatable: BTreeSet::new(),
            unread: BTreeSet::new(),
        }
    }

    /// A server at this address.
    #[must_use]
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(ServerTransport::Http { url: url.into(), headers: BTreeMap::new(), oauth: OAuth::default() })
    }

    /// A digest of how the server is reached: what was remembered of another is not this one's.
    /// Secrets stand in it only as the variables they are taken from, if they are.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?}", self.reach).as_bytes());
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// The reach with every variable put in.
    pub(crate) fn expanded(
        &self,
        server: &ServerName,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<ServerTransport, ConfigError> {
        let text = |key: &str, text: &str| {
            expand(text, variable).map_err(|problem| ConfigError::Key {
                server: server.clone(),
                key: key.to_owned(),
                problem: format!("can't be used: {problem}"),
            })
        };
        let texts = |key: &str, of: &BTreeMap<String, String>| {
            of.iter()
                .map(|(name, value)| Ok((name.clone(), text(&format!("{key}.{name}"), value)?)))
                .collect::<Result<BTreeMap<_, _>, ConfigError>>()
        };
        match &self.reach {
            ServerTransport::Stdio { command, args, env, cwd } => Ok(ServerTransport::Stdio {
                command: text("command", command)?,
                args: args.iter().map(|arg| text("args", arg)).collect::<Result<_, _>>()?,
                env: texts("env", env)?,
                cwd: match cwd {
                    Some(cwd) => Some(PathBuf::from(text("cwd", &cwd.to_string_lossy())?)),
                    None => None,
                },
            }),
            ServerTransport::Http { url, headers, oauth } => Ok(ServerTransport::Http {
                url: text("url", url)?,
                headers: texts("headers", headers)?,
                oauth: OAuth {
                    client_id: oauth.client_id.as_deref().map(|id| text("oauth.clientId", id)).transpose()?,
                    client_secret: oauth
                        .client_secret
                        .as_deref()
                        .map(|secret| text("oauth.clientSecret", secret))
                        .transpose()?,
                    ..oauth.clone()
                },
            }),
        }
    }
}

/// What is wrong with the configuration of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The whole is no object.
    #[error("`mcpServers` must be an object with an entry for each server")]
    NoObject,
    /// A name can't be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A value is not what it must be.
    #[error("MCP server `{server}`: `{key}` {problem}")]
    Key {
        /// The server.
        server: ServerName,
        /// The key.
        key: String,
        /// What is wrong.
        problem: String,
    },
}

impl ConfigError {
    /// What is wrong, where the server was named already.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Key { key, problem, .. } => format!("`{key}` {problem}"),
            Self::NoObject | Self::Name(_) => self.to_string(),
        }
    }
}
