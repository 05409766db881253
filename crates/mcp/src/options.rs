//! Options shared by the servers of a process.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use windlass_tools::{GuardProgram, Sandbox, Secrets};

use crate::name::ServerName;
use crate::notice::Notice;

/// The longest message in bytes; the call of a longer one fails.
pub const MESSAGE_LIMIT: usize = 64 << 20;

/// Looks up a variable for `${VAR}`.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;
/// Receives the address at which a person logs in to a server.
pub type ShowUrl = Arc<dyn Fn(&ServerName, &str) + Send + Sync>;

/// Returns why the program of a server must not be started now, as the rest of a sentence.
pub type StartCheck = Arc<dyn Fn(&ServerName) -> Result<(), String> + Send + Sync>;

/// Options shared by the servers of a process.
#[derive(Clone)]
pub struct McpOptions {
    /// The folder where listings are remembered; `None` remembers nothing.
    pub memory: Option<PathBuf>,
    /// The file for tokens, readable by its owner only; without one tokens are lost when the process ends.
    pub tokens: Option<PathBuf>,
    /// Where the values of `${VAR}` come from.
    pub variables: Variables,
    /// The guard program for stdio servers; without one none is started.
    pub guard: Option<GuardProgram>,
    /// The sandbox for servers whose entries ask for it; without one such a server is not started.
    pub sandbox: Option<Sandbox>,
    /// Receives notices for the person.
    pub notice: Arc<dyn Fn(Notice) + Send + Sync>,
    /// Secrets that child processes don't inherit and errors don't contain (X1).
    pub secrets: Secrets,
    /// The workspace: reported to servers that ask for roots, and the default working folder of stdio servers.
    pub root: Option<PathBuf>,
    /// The longest message that is read, in bytes.
    pub message_limit: usize,
    /// A proxy for all HTTP connections except to this machine.
    pub proxy: Option<String>,
    /// Set if a person is present who logs in as soon as a server requires it; otherwise such a server is unavailable
    /// until [`crate::Servers::login`].
    pub log_in: Option<ShowUrl>,
    /// Servers that are configured but must not be used, because nobody has agreed to them. Their names are kept so
    /// that a call to one of them is not routed to another server.
    pub withheld: BTreeSet<ServerName>,
    /// Called right before each start of a server's program; it may read files.
    pub check_start: StartCheck,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            memory: None,
            tokens: None,
            variables: Arc::new(|_| None),
            guard: None,
            sandbox: None,
            notice: Arc::new(|_| {}),
            secrets: Secrets::default(),
            root: None,
            message_limit: MESSAGE_LIMIT,
            proxy: None,
            log_in: None,
            withheld: BTreeSet::new(),
            check_start: Arc::new(|_| Ok(())),
        }
    }
}

impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOptions")
            .field("memory", &self.memory)
            .field("tokens", &self.tokens)
            .field("guard", &self.guard)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}
