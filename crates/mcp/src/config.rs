//! The `mcpServers` object (P1): the configuration of each server.
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
//! `${VAR}` is kept as written and expanded when the server is started, so that a missing variable makes one server
//! unavailable, not the whole configuration. Keys of other programs are ignored; unknown keys are listed in
//! [`ServerConfig::unread`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::expand::expand;
use crate::name::{NameError, ServerName};

/// How to connect to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    /// A child process, over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables added to the inherited environment.
        env: BTreeMap<String, String>,
        /// The working folder; Windlass's own folder if absent.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// Client registration with its authorization server, where it is not discovered.
        oauth: OAuth,
    },
}

/// Settings for an HTTP server's authorization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuth {
    /// A client id given out of band.
    pub client_id: Option<String>,
    /// The secret of that client id.
    pub client_secret: Option<String>,
    /// The scopes to request, instead of those the server names.
    pub scopes: Vec<String>,
    /// The URL at which our client metadata document is published.
    pub client_metadata_url: Option<String>,
    /// Who is authorized.
    pub bearer: TokenSubject,
    /// The loopback port of the redirect, if it must be registered; otherwise any free port.
    pub redirect_port: Option<u16>,
}

/// On whose behalf a token is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenSubject {
    /// A person, who agrees in a browser.
    #[default]
    Person,
    /// The program itself, by its client id and secret.
    Program,
}

/// Whether a server's annotations of its own tools may decide which calls need approval (P3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Every call of its tools needs approval.
    #[default]
    Untrusted,
    /// Its annotations count.
    Trusted,
}

/// Whether a server is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerUse {
    /// It is used.
    #[default]
    Enabled,
    /// It is configured, but not used.
    Disabled,
}

/// Whether a server's child process runs in the sandbox (X3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerConfinement {
    /// It has the same access to files and the network as the person.
    #[default]
    Not,
    /// It can write only in the workspace, read no secrets and use no network.
    InWorkspace,
}

/// The configuration of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// How to connect to it.
    pub reach: ServerTransport,
    /// Time limit until it has listed its tools.
    pub startup_timeout: Duration,
    /// Time limit of a call.
    pub call_timeout: Duration,
    /// Whether its annotations count.
    pub trust: Trust,
    /// Whether it is used.
    pub usage: ServerUse,
    /// Whether it runs in the sandbox.
    pub sandbox: ServerConfinement,
    /// Tags of all its tools.
    pub tags: BTreeSet<String>,
    /// Tools that poll, by the server's names for them: exempt from the progress guards (L11).
    pub repeatable: BTreeSet<String>,
    /// Unknown keys of its entry: another program's, or typos.
    pub unread: BTreeSet<String>,
}

/// Default time limits of servers whose entries set none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Until a server has listed its tools.
    pub startup_timeout: Duration,
    /// For one call.
    pub call_timeout: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self { startup_timeout: STARTUP_TIMEOUT, call_timeout: CALL_TIMEOUT }
    }
}

/// Default time limit for starting a server.
pub const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
/// Default time limit of a call.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(120);

impl ServerConfig {
    /// Returns a server with this transport and defaults for everything else.
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

    /// Returns a server at this address.
    #[must_use]
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(ServerTransport::Http { url: url.into(), headers: BTreeMap::new(), oauth: OAuth::default() })
    }

    /// Digest of the transport, so that data remembered for another configuration is not used for this one. It covers
    /// `${VAR}` as written, so a secret taken from a variable is not part of it.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{:?}", self.reach).as_bytes());
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Returns the transport with every variable expanded.
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

/// An error in the configuration of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The value is not an object.
    #[error("`mcpServers` must be an object with an entry for each server")]
    NoObject,
    /// A server's name is not valid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A value has the wrong type or content.
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
    /// The problem without the server's name.
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Key { key, problem, .. } => format!("`{key}` {problem}"),
            Self::NoObject | Self::Name(_) => self.to_string(),
        }
    }
}
