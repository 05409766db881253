//! Namespaces: a command has its own view of users, processes, mounts and networks.

use std::io;

use nix::sched::{CloneFlags, unshare};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketType};

use crate::Network;

/// Enters a user namespace in which this user keeps its ids. The caller must have no other threads.
pub(crate) fn enter_user() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // Map all users if this one may: then root can still access the files of others.
    if std::fs::write("/proc/self/uid_map", "0 0 4294967295").is_ok() {
        return std::fs::write("/proc/self/gid_map", "0 0 4294967295");
    }
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Moves the future children of this process into a new PID namespace, and the process itself into new mount, IPC and
/// (without network) network namespaces.
pub(crate) fn enter_others(network: Network) -> io::Result<()> {
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    Ok(unshare(match network {
        Network::Off => own | CloneFlags::CLONE_NEWNET,
        Network::On => own,
    })?)
}

/// Brings up the loopback device of a new network namespace, because programs under test connect to themselves.
pub(crate) fn raise_loopback() -> io::Result<()> {
    // A netlink header (length, RTM_NEWLINK, request) and the first interface, with the flag "up".
    const UP: [u32; 8] = [32, 16 | 1 << 16, 1, 0, 0, 1, 1, 1];
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let bytes: Vec<u8> = UP.iter().flat_map(|word| word.to_ne_bytes()).collect();
    rustix::net::sendto(&socket, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(())
}
