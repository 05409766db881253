//! What the servers of a process share.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use windlass_tools::{GuardProgram, Sandbox, Secrets};

use crate::name::ServerName;
use crate::notice::Notice;

/// Longer messages are not read: their call fails.
pub const MESSAGE_LIMIT: usize = 64 << 20;

/// Looks up a variable for `${VAR}`.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;
/// Is given the address at which a person logs in to a server.
pub type ShowUrl = Arc<dyn Fn(&ServerName, &str) + Send + Sync>;

/// Says why the program of a server must not be started now, as the rest of a sentence.
pub type StartCheck = Arc<dyn Fn(&ServerName) -> Result<(), String> + Send + Sync>;

/// What the servers of a process share.
#[derive(Clone)]
pub struct McpOptions {
    /// The folder where listings are remembered; without one nothing is.
    pub memory: Option<PathBuf>,
    /// The file where tokens are kept, readable by its owner alone; without one they last as long as
    /// the process.
    pub tokens: Option<PathBuf>,
    /// Where the values of `${VAR}` come from.
    pub variables: Variables,
    /// The guard of stdio servers; without one none is started.
    pub guard: Option<GuardProgram>,
    /// The sandbox of those whose entries ask for it; without one such a server is not started.
    pub sandbox: Option<Sandbox>,
    /// Is told what a person should know.
    pub notice: Arc<dyn Fn(Notice) + Send + Sync>,
    /// What children don't inherit and errors don't show (X1).
    pub secrets: Secrets,
    /// The workspace: told to servers that ask, and where stdio servers run unless they say otherwise.
    pub root: Option<PathBuf>,
    /// The longest message that is read, in bytes.
    pub message_limit: usize,
    /// A proxy for everything over HTTP but this machine.
    pub proxy: Option<String>,
    /// Set where a person watches and logs in as soon as a server wants it; otherwise such a server
    /// is not available before [`crate::Servers::login`].
    pub log_in: Option<ShowUrl>,
    /// Servers that are configured and must not be used, as nobody has agreed to them: known by name,
    /// so that a call that names one of them is not taken for one of another.
    pub withheld: BTreeSet<ServerName>,
    /// Asked right before the program of a server is started, each time; it may read files.
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
