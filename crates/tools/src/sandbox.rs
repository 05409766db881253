//! The sandbox of a run's commands: what is wanted of it, what this machine can do of that, and what one
//! command is held to (X3).

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use windlass_sandbox::{Closed, Confinement, Network, SandboxMode, Support, Surroundings, told};

use crate::{Access, GuardProgram, Permissions, guard};

/// How far a command reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It is held by the sandbox.
    #[default]
    Inside,
    /// It is held by the sandbox, but may talk to other machines.
    Network,
    /// It is to run outside the sandbox.
    Outside,
    /// There is no sandbox to hold it.
    Unheld,
}

/// The sandbox of a run's commands. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox {
    surroundings: Arc<Surroundings>,
    /// What is forbidden to file tools and protected from them is closed to commands.
    permissions: Arc<Permissions>,
    support: Arc<OnceLock<Support>>,
}

impl Sandbox {
    /// A sandbox in these surroundings, in which what these permissions forbid about files is forbidden too, and what
    /// they protect can't be written.
    #[must_use]
    pub fn new(surroundings: Surroundings, permissions: Arc<Permissions>) -> Self {
        Self { surroundings: Arc::new(surroundings), permissions, support: Arc::default() }
    }

    /// The same on a machine that can enforce this, which is not asked then.
    #[must_use]
    pub fn with_support(&self, support: Support) -> Self {
        Self { support: Arc::new(OnceLock::from(support)), ..self.clone() }
    }

    /// What is wanted.
    #[must_use]
    pub fn mode(&self) -> SandboxMode {
        self.surroundings.mode
    }

    /// What this machine can do of it; found out once, which takes a few milliseconds.
    pub fn support(&self, guard: &GuardProgram) -> &Support {
        self.support.get_or_init(|| guard::support(guard))
    }

    /// Whether a command is held by it at all.
    pub(crate) fn holds(&self, guard: &GuardProgram) -> bool {
        self.mode() != SandboxMode::Off && self.support(guard).is_any()
    }

    /// What a command is held to, with `temp` for itself; nothing where it runs outside.
    pub(crate) fn confinement(&self, guard: &GuardProgram, reach: Reach, temp: PathBuf) -> Option<Confinement> {
        let network = match reach {
            Reach::Inside => Network::Off,
            Reach::Network => Network::On,
            Reach::Outside | Reach::Unheld => return None,
        };
        if !self.holds(guard) {
            return None;
        }
        let walls = self.support(guard).walls.clone();
        self.surroundings.confinement(walls, network, temp, &|path| self.closed(path))
    }

    /// What a program is held to that belongs to no call, with a temporary folder of its own; nothing in mode
    /// `off`, or where the machine can hold nothing.
    pub fn program_confinement(&self, guard: &GuardProgram, network: Network) -> Option<Confinement> {
        let reach = match network {
            Network::Off => Reach::Inside,
            Network::On => Reach::Network,
        };
        let confinement = self.confinement(guard, reach, guard::fresh_temp())?;
        // It may run for days, in which others make such files too.
        Some(Confinement { absent: Vec::new(), ..confinement })
    }

    /// What a person who is asked is told of it.
    pub(crate) fn told(&self, guard: &GuardProgram, reach: Reach) -> String {
        let (mode, network) = match reach {
            Reach::Inside | Reach::Unheld => (self.mode(), Network::Off),
            Reach::Network => (self.mode(), Network::On),
            Reach::Outside => (SandboxMode::Off, Network::On),
        };
        told(mode, network, self.support(guard))
    }

    fn closed(&self, path: &Path) -> Closed {
        let root = &self.surroundings.workspace;
        let Some(path) = path.strip_prefix(root).ok().and_then(Path::to_str) else { return Closed::No };
        let roots = [root.clone()];
        let forbids = |access| self.permissions.denying_access(access, path, &roots).is_some();
        // Of git's own folder only a part is closed (`windlass_sandbox`): commits are written there.
        let is_protected =
            || !path.split('/').any(is_version_control) && self.permissions.protected.protecting(path).is_some();
        match (forbids(Access::Read), forbids(Access::Write) || is_protected()) {
            (true, _) => Closed::ToReading,
            (false, true) => Closed::ToWriting,
            (false, false) => Closed::No,
        }
    }
}

/// A folder that version control keeps its own files in.
fn is_version_control(name: &str) -> bool {
    [".git", ".hg", ".svn"].contains(&name)
}
