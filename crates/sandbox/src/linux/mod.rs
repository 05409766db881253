//! How a confinement is put into effect on Linux. The guard process calls [`enter_user`] while it has no
//! threads, then [`leave`] in the thread that starts the first process of the sandbox, and that one calls
//! [`confine`] before it starts the command. Where there are no namespaces only the last is called.

mod landlock;
mod mounts;
mod namespaces;
mod syscalls;

use std::io;
use std::path::Path;

pub use landlock::has_landlock;
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::{Confinement, Network, Walls};

/// What building takes: mounting, and bringing up a network device.
const BUILDING: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN);

/// What a root user keeps of their power over files that are mapped into the namespace; nobody else keeps
/// any.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Enters a user namespace, in which a person without rights may make the others.
pub fn enter_user() -> io::Result<()> {
    namespaces::enter_user().step("enter a user namespace")
}

/// What this thread starts from now on sees processes, mounts and a network of its own, and has the power over
/// them that is needed to build the rest.
pub fn leave(network: Network) -> io::Result<()> {
    namespaces::leave(network).step("make namespaces")?;
    namespaces::hand_down(BUILDING).step("hand down its power over them")
}

/// Holds this process and all it starts to `confinement`. Answers the version of Landlock it is held by.
pub fn confine(confinement: &Confinement) -> io::Result<u8> {
    if confinement.walls == Walls::Namespaces {
        if confinement.network == Network::Off {
            namespaces::raise_loopback().step("bring up the loopback device")?;
        }
        mounts::build(confinement)?;
    }
    if confinement.walls != Walls::Landlock {
        let root = rustix::process::geteuid().is_root();
        let kept = if root { KEPT } else { CapabilitySet::empty() };
        let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
        rustix::thread::set_capabilities(None, sets).step("drop capabilities")?;
    }
    rustix::thread::set_no_new_privs(true).step("give up new privileges")?;
    let landlock = landlock::restrict(confinement).step("use Landlock")?;
    syscalls::restrict(confinement).step("filter system calls")?;
    Ok(landlock)
}

/// Says what could not be done.
trait Step<T> {
    fn step(self, what: &str) -> io::Result<T>;
    fn step_at(self, what: &str, path: &Path) -> io::Result<T>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, what: &str) -> io::Result<T> {
        self.map_err(|error| {
            let error: io::Error = error.into();
            io::Error::new(error.kind(), format!("the sandbox could not {what}: {error}"))
        })
    }

    fn step_at(self, what: &str, path: &Path) -> io::Result<T> {
        self.step(&format!("{what} {}", path.display()))
    }
}
