//! The sandbox of a run's commands: the requested mode, the support on this machine, and the confinement of one
//! command (X3).

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use windlass_sandbox::{
    Confinement, Isolation, Network, PathRules, SandboxMode, SandboxSupport, ScanExtent, Surroundings, describe_sandbox,
};

use crate::closed_paths::ClosedPaths;
use crate::running_commands::{RunningCommand, RunningCommands};
use crate::sandbox_use::SandboxUse;
use crate::{GuardProgram, Permissions, SandboxUntried, WorkspaceUse, guard};

/// The sandbox of a run's commands. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox {
    surroundings: Arc<Surroundings>,
    /// Paths that these forbid to file tools or protect from them are closed to commands.
    permissions: Arc<Permissions>,
    closed_paths: Arc<OnceLock<ClosedPaths>>,
    support: Arc<OnceLock<SandboxSupport>>,
    running_commands: Arc<RunningCommands>,
}

impl Sandbox {
    /// A sandbox in these surroundings. Commands can't access files that these permissions forbid, and can't write
    /// protected ones.
    #[must_use]
    pub fn new(surroundings: Surroundings, permissions: Arc<Permissions>) -> Self {
        Self {
            surroundings: Arc::new(surroundings),
            permissions,
            closed_paths: Arc::default(),
            support: Arc::default(),
            running_commands: Arc::default(),
        }
    }

    /// The same sandbox with known support of the machine, which is not probed then.
    #[must_use]
    pub fn with_support(&self, support: SandboxSupport) -> Self {
        Self { support: Arc::new(OnceLock::from(support)), ..self.clone() }
    }

    /// Returns the requested mode.
    #[must_use]
    pub fn mode(&self) -> SandboxMode {
        self.surroundings.mode
    }

    /// Returns this machine's support. Probed once, which takes a few milliseconds, and again if probing failed.
    #[must_use]
    pub fn support(&self, guard: &GuardProgram) -> SandboxSupport {
        if let Some(support) = self.support.get() {
            return support.clone();
        }
        let support = guard::probe_support(guard);
        if support.failure.is_none() {
            // Another thread may have set it at the same time.
            let _ = self.support.set(support.clone());
        }
        support
    }

    /// Whether the sandbox confines commands, or keeps them from running because probing failed.
    pub(crate) fn confines(&self, guard: &GuardProgram) -> bool {
        let may_hold = |support: &SandboxSupport| support.enforces_anything() || support.failure.is_some();
        self.mode() != SandboxMode::Off && may_hold(&self.support(guard))
    }

    /// Returns the confinement of a command, with `temp` as its temporary folder, and a handle to keep until it has
    /// ended; `None` if it runs outside the sandbox.
    pub(crate) fn command_confinement(
        &self,
        guard: &GuardProgram,
        sandbox_use: SandboxUse,
        workspace_use: WorkspaceUse,
        temp: PathBuf,
    ) -> Result<Option<(Confinement, RunningCommand)>, SandboxUntried> {
        let mut problem = None;
        let look = || {
            self.confinement(guard, sandbox_use, workspace_use, temp).unwrap_or_else(|why| {
                problem = Some(why);
                None
            })
        };
        let joined = self.running_commands.join(look);
        problem.map_or(Ok(joined), Err)
    }

    /// Returns the confinement of a program, with `temp` as its temporary folder; `None` if it runs outside.
    fn confinement(
        &self,
        guard: &GuardProgram,
        sandbox_use: SandboxUse,
        workspace_use: WorkspaceUse,
        temp: PathBuf,
    ) -> Result<Option<Confinement>, SandboxUntried> {
        let network = match sandbox_use {
            SandboxUse::Confined => Network::Off,
            SandboxUse::WithNetwork => Network::On,
            SandboxUse::Outside | SandboxUse::NoSandbox => return Ok(None),
        };
        let support = self.support(guard);
        if self.mode() == SandboxMode::Off || !support.enforces_anything() && support.failure.is_none() {
            return Ok(None);
        }
        if let Some(failure) = &support.failure {
            return Err(SandboxUntried { failure: failure.clone() });
        }
        let isolation = support.isolation;
        let surroundings = self.surroundings_for(workspace_use);
        let mut confinement = self.with_rules(|rules| surroundings.confinement(isolation, network, temp, rules));
        if let Some(confinement) = confinement.as_mut().filter(|confinement| !confinement.writable.is_empty()) {
            confinement.cleanup = Some(ClosedPaths::cleanup_rules(&self.permissions, &self.surroundings.workspace));
        }
        Ok(confinement)
    }

    fn surroundings_for(&self, workspace_use: WorkspaceUse) -> Cow<'_, Surroundings> {
        match workspace_use {
            WorkspaceUse::Configured => Cow::Borrowed(self.surroundings.as_ref()),
            WorkspaceUse::ReadOnly => {
                Cow::Owned(Surroundings { mode: SandboxMode::ReadOnly, ..self.surroundings.as_ref().clone() })
            }
        }
    }

    /// Returns the confinement of a program that belongs to no call, with its own temporary folder; `None` in mode
    /// `off`, or if the machine can enforce nothing. Fails if the machine's support could not be probed.
    pub fn program_confinement(
        &self,
        guard: &GuardProgram,
        network: Network,
    ) -> Result<Option<Confinement>, SandboxUntried> {
        let sandbox_use = match network {
            Network::Off => SandboxUse::Confined,
            Network::On => SandboxUse::WithNetwork,
        };
        self.confinement(guard, sandbox_use, WorkspaceUse::Configured, guard::fresh_temp())
    }

    /// Returns the description of the confinement for a person who is asked.
    pub(crate) fn describe(&self, guard: &GuardProgram, sandbox_use: SandboxUse) -> String {
        let (mode, network) = match sandbox_use {
            SandboxUse::Confined | SandboxUse::NoSandbox => (self.mode(), Network::Off),
            SandboxUse::WithNetwork => (self.mode(), Network::On),
            SandboxUse::Outside => (SandboxMode::Off, Network::On),
        };
        let support = self.support(guard);
        let scan_extent = match (sandbox_use, &support.isolation) {
            (
                SandboxUse::Confined | SandboxUse::WithNetwork,
                Isolation::Namespaces | Isolation::Bubblewrap(_) | Isolation::Seatbelt,
            ) => self.scan_extent(),
            // Nothing in the workspace is closed here, and the description says so.
            (SandboxUse::Confined | SandboxUse::WithNetwork, Isolation::Landlock)
            | (SandboxUse::Outside | SandboxUse::NoSandbox, _) => ScanExtent::Complete,
        };
        describe_sandbox(mode, network, &support, scan_extent)
    }

    /// Returns how much of the workspace is scanned for closed paths. In the folders of build tools only pattern rules
    /// can match, so without such rules a scan without these folders is complete.
    fn scan_extent(&self) -> ScanExtent {
        match self.with_rules(|rules| self.surroundings.scan_extent(rules)) {
            ScanExtent::WithoutBuildFolders if !self.closed_paths().denies_by_pattern => ScanExtent::Complete,
            scan_extent @ (ScanExtent::Complete | ScanExtent::WithoutBuildFolders | ScanExtent::FirstEntries) => {
                scan_extent
            }
        }
    }

    fn closed_paths(&self) -> &ClosedPaths {
        self.closed_paths.get_or_init(|| ClosedPaths::new(&self.permissions))
    }

    fn with_rules<T>(&self, ask: impl FnOnce(&PathRules<'_>) -> T) -> T {
        self.closed_paths().with_rules(&self.permissions, &self.surroundings.workspace, ask)
    }
}
