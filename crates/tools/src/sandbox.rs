//! The sandbox of a run's commands: what is wanted of it, what this machine can do of that, and what one
//! command is held to (X3).

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use windlass_sandbox::{Confinement, Looked, Network, Rules, SandboxMode, Support, Surroundings, Walls, told};

use crate::at_work::{AtWork, Running};
use crate::closing::Closing;
use crate::reach::Reach;
use crate::{GuardProgram, Permissions, SandboxUntried, guard};

/// The sandbox of a run's commands. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox {
    surroundings: Arc<Surroundings>,
    /// What is forbidden to file tools and protected from them is closed to commands.
    permissions: Arc<Permissions>,
    closing: Arc<OnceLock<Closing>>,
    support: Arc<OnceLock<Support>>,
    at_work: Arc<AtWork>,
}

impl Sandbox {
    /// A sandbox in these surroundings, in which what these permissions forbid about files is forbidden too, and what
    /// they protect can't be written.
    #[must_use]
    pub fn new(surroundings: Surroundings, permissions: Arc<Permissions>) -> Self {
        Self {
            surroundings: Arc::new(surroundings),
            permissions,
            closing: Arc::default(),
            support: Arc::default(),
            at_work: Arc::default(),
        }
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

    /// What this machine can do of it; found out once, which takes a few milliseconds, and again where it could not be.
    #[must_use]
    pub fn support(&self, guard: &GuardProgram) -> Support {
        if let Some(support) = self.support.get() {
            return support.clone();
        }
        let support = guard::support(guard);
        if support.failure.is_none() {
            // Others may have found it out at the same time.
            let _ = self.support.set(support.clone());
        }
        support
    }

    /// Whether a command is held by it at all, or not run.
    pub(crate) fn holds(&self, guard: &GuardProgram) -> bool {
        let may_hold = |support: &Support| support.is_any() || support.failure.is_some();
        self.mode() != SandboxMode::Off && may_hold(&self.support(guard))
    }

    /// What a command is held to, with `temp` for itself, and what is to be kept until it has ended; nothing where it runs
    /// outside.
    pub(crate) fn command_confinement(
        &self,
        guard: &GuardProgram,
        reach: Reach,
        temp: PathBuf,
    ) -> Result<Option<(Confinement, Running)>, SandboxUntried> {
        let mut problem = None;
        let look = || {
            self.confinement(guard, reach, temp).unwrap_or_else(|why| {
                problem = Some(why);
                None
            })
        };
        let joined = self.at_work.join(look);
        problem.map_or(Ok(joined), Err)
    }

    /// What a program is held to, with `temp` for itself; nothing where it runs outside.
    fn confinement(
        &self,
        guard: &GuardProgram,
        reach: Reach,
        temp: PathBuf,
    ) -> Result<Option<Confinement>, SandboxUntried> {
        let network = match reach {
            Reach::Inside => Network::Off,
            Reach::Network => Network::On,
            Reach::Outside | Reach::Unheld => return Ok(None),
        };
        let support = self.support(guard);
        if self.mode() == SandboxMode::Off || !support.is_any() && support.failure.is_none() {
            return Ok(None);
        }
        if let Some(failure) = &support.failure {
            return Err(SandboxUntried { failure: failure.clone() });
        }
        let walls = support.walls;
        let mut confinement = self.with_rules(|rules| self.surroundings.confinement(walls, network, temp, rules));
        if let Some(confinement) = confinement.as_mut().filter(|confinement| !confinement.writable.is_empty()) {
            confinement.clearing = Some(Closing::clearing(&self.permissions, &self.surroundings.workspace));
        }
        Ok(confinement)
    }

    /// What a program is held to that belongs to no call, with a temporary folder of its own; nothing in mode
    /// `off`, or where the machine can hold nothing. Fails where it is not known what the machine can do.
    pub fn program_confinement(
        &self,
        guard: &GuardProgram,
        network: Network,
    ) -> Result<Option<Confinement>, SandboxUntried> {
        let reach = match network {
            Network::Off => Reach::Inside,
            Network::On => Reach::Network,
        };
        self.confinement(guard, reach, guard::fresh_temp())
    }

    /// What a person who is asked is told of it.
    pub(crate) fn told(&self, guard: &GuardProgram, reach: Reach) -> String {
        let (mode, network) = match reach {
            Reach::Inside | Reach::Unheld => (self.mode(), Network::Off),
            Reach::Network => (self.mode(), Network::On),
            Reach::Outside => (SandboxMode::Off, Network::On),
        };
        let support = self.support(guard);
        let looked = match (reach, &support.walls) {
            (Reach::Inside | Reach::Network, Walls::Namespaces | Walls::Bubblewrap(_) | Walls::Seatbelt) => {
                self.looked()
            }
            // Nothing is closed in the workspace anyway, as is said.
            (Reach::Inside | Reach::Network, Walls::Landlock) | (Reach::Outside | Reach::Unheld, _) => Looked::Through,
        };
        told(mode, network, &support, looked)
    }

    /// How far the workspace is looked through for what rules close. Only a pattern means anything in the folders of
    /// build tools.
    fn looked(&self) -> Looked {
        match self.with_rules(|rules| self.surroundings.looked(rules)) {
            Looked::PastBuildFolders if !self.closing().denies_by_pattern => Looked::Through,
            looked @ (Looked::Through | Looked::PastBuildFolders | Looked::AtTheBeginning) => looked,
        }
    }

    fn closing(&self) -> &Closing {
        self.closing.get_or_init(|| Closing::new(&self.permissions))
    }

    fn with_rules<T>(&self, ask: impl FnOnce(&Rules<'_>) -> T) -> T {
        self.closing().with_rules(&self.permissions, &self.surroundings.workspace, ask)
    }
}
