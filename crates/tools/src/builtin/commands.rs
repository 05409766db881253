//! How commands are run: their guard, limits, environment and sandbox.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{GuardProgram, Sandbox, Secrets};

/// How commands are run.
#[derive(Clone, Debug)]
pub struct Commands {
    /// The guard program; without one no command runs.
    pub guard: Option<GuardProgram>,
    /// The folder of the lock files of running commands. Outside the workspace.
    pub lock_dir: PathBuf,
    /// Secrets that commands don't inherit, and that are replaced in their output (X1).
    pub secrets: Secrets,
    /// Other variables that commands don't inherit.
    pub hide_env: BTreeSet<String>,
    /// Variables that commands inherit although they hold a secret; `hide_env` takes precedence.
    pub keep_env: BTreeSet<String>,
    /// The time limit of a command if the model sets none.
    pub timeout: Duration,
    /// The longest time limit the model may set.
    pub timeout_ceiling: Duration,
    /// How long a stopped command may take to end by itself.
    pub stop_grace: Duration,
    /// Bytes of output that are kept, half from the beginning and half from the end.
    pub output_kept: usize,
    /// Bytes of output at which a command is stopped.
    pub output_ceiling: u64,
    /// The sandbox they run in; without one they run with all permissions of this user.
    pub sandbox: Option<Sandbox>,
}

impl Commands {
    /// Creates settings for commands under `guard`, with a time limit of two minutes and a maximum of ten.
    #[must_use]
    pub fn new(guard: Option<GuardProgram>, lock_dir: PathBuf) -> Self {
        Self {
            guard,
            lock_dir,
            secrets: Secrets::default(),
            hide_env: BTreeSet::new(),
            keep_env: BTreeSet::new(),
            timeout: Duration::from_secs(120),
            timeout_ceiling: Duration::from_secs(600),
            stop_grace: Duration::from_millis(200),
            output_kept: 1 << 20,
            output_ceiling: 256 << 20,
            sandbox: None,
        }
    }
}

impl Commands {
    /// Returns the variables of this environment that commands don't inherit.
    pub(super) fn hidden_env(&self, environment: impl IntoIterator<Item = (OsString, OsString)>) -> BTreeSet<OsString> {
        let mut hidden = self.secrets.scrubbed_names(environment);
        hidden.retain(|name| !name.to_str().is_some_and(|name| self.keep_env.contains(name)));
        hidden.extend(self.hide_env.iter().map(OsString::from));
        hidden
    }
}
