//! How a confinement is put into effect on Linux. A child of the guard process calls [`enter_namespaces`] while it has no
//! threads; its own child is the first process of the sandbox, and calls [`confine`] before it starts the command. Where
//! there are no namespaces only the last is called.

mod landlock;
mod mounts;
mod namespaces;
mod syscalls;

use std::io;
use std::path::Path;

pub use landlock::has_landlock;
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::{Confinement, Isolation, Network};

/// What a root user keeps of their power over files that are mapped into the namespace; nobody else keeps
/// any.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// What this process starts from now on sees processes of its own; the process itself sees mounts and a network of its
/// own, and has the power over them that is needed to build the rest.
pub fn enter_namespaces(network: Network) -> io::Result<()> {
    namespaces::enter_user().or_explain("enter a user namespace")?;
    namespaces::enter_others(network).or_explain("make namespaces")
}

/// Holds this process and all it starts to `confinement`. Answers the version of Landlock it is held by.
pub fn confine(confinement: &Confinement) -> io::Result<u8> {
    if confinement.isolation == Isolation::Namespaces {
        if confinement.network == Network::Off {
            namespaces::raise_loopback().or_explain("bring up the loopback device")?;
        }
        mounts::build(confinement)?;
    }
    if confinement.isolation != Isolation::Landlock {
        let root = rustix::process::geteuid().is_root();
        let kept = if root { KEPT_CAPABILITIES } else { CapabilitySet::empty() };
        let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
        rustix::thread::set_capabilities(None, sets).or_explain("drop capabilities")?;
    }
    rustix::thread::set_no_new_privs(true).or_explain("give up new privileges")?;
    let landlock = landlock::restrict(confinement).or_explain("use Landlock")?;
    syscalls::restrict(confinement).or_explain("filter system calls")?;
    Ok(landlock)
}

/// Says what could not be done.
trait OrExplain<T> {
    fn or_explain(self, what: &str) -> io::Result<T>;
    fn or_explain_at(self, what: &str, path: &Path) -> io::Result<T>;
}

impl<T, E: Into<io::Error>> OrExplain<T> for Result<T, E> {
    fn or_explain(self, what: &str) -> io::Result<T> {
        self.map_err(|error| {
            let error: io::Error = error.into();
            io::Error::new(error.kind(), format!("the sandbox could not {what}: {error}"))
        })
    }

    fn or_explain_at(self, what: &str, path: &Path) -> io::Result<T> {
        self.or_explain(&format!("{what} {}", path.display()))
    }
}
