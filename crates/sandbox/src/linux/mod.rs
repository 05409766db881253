//! Applies a confinement on Linux. A child of the guard process calls [`enter_namespaces`] while it has no other
//! threads; its own child is the first process of the sandbox, and calls [`confine`] before it starts the command.
//! Without namespaces only [`confine`] is called.

mod landlock;
mod mounts;
mod namespaces;
mod syscalls;

use std::io;
use std::path::Path;

pub use landlock::has_landlock;
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::{Confinement, Isolation, Network};

/// The capabilities over mapped files that root keeps in the namespace; other users keep none.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Moves this process into its own mount and network namespaces, and its future children into a PID namespace, with the
/// capabilities needed to set up the rest.
pub fn enter_namespaces(network: Network) -> io::Result<()> {
    namespaces::enter_user().or_explain("enter a user namespace")?;
    namespaces::enter_others(network).or_explain("make namespaces")
}

/// Confines this process and all its children to `confinement`. Returns the version of Landlock in force.
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

/// Adds to an error what could not be done.
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
