//! How commands are run: their guard, limits, environment and sandbox.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::{GuardProgram, Sandbox, Secrets};

/// How commands are run.
#[derive(Clone, Debug)]
pub struct Commands {
    /// The guard; without one no command is run.
    pub guard: Option<GuardProgram>,
    /// Where the lock files of running commands are. Outside the workspace.
    pub lock_dir: PathBuf,
    /// What commands don't inherit, and what is not seen of their output (X1).
    pub secrets: Secrets,
    /// Other variables that commands don't inherit.
    pub hide_env: BTreeSet<String>,
    /// Variables that they do, though they hold a secret; what is hidden wins.
    pub keep_env: BTreeSet<String>,
    /// How long a command may take if the model does not say.
    pub timeout: Duration,
    /// The longest the model may ask for.
    pub timeout_ceiling: Duration,
    /// How long a stopped command has to end by itself.
    pub stop_grace: Duration,
    /// Bytes of output that are kept, half from the beginning and half from the end.
    pub output_kept: usize,
    /// Bytes of output at which a command is stopped.
    pub output_ceiling: u64,
    /// The sandbox they run in; without one they can do whatever this user can.
    pub sandbox: Option<Sandbox>,
}

impl Commands {
    /// Commands under `guard`, with two minutes' time unless the model asks for up to ten.
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
    /// The variables of this environment that commands don't get.
    pub(super) fn hidden_env(&self, environment: impl IntoIterator<Item = (OsString, OsString)>) -> BTreeSet<OsString> {
        let mut hidden = self.secrets.scrubbed_names(environment);
        hidden.retain(|name| !name.to_str().is_some_and(|name| self.keep_env.contains(name)));
        hidden.extend(self.hide_env.iter().map(OsString::from));
        hidden
    }
}
