//! Namespaces: what a command sees of users, processes, mounts and networks is its own.

use std::io;

use nix::sched::{CloneFlags, unshare};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketType};

use crate::Network;

/// Enters a user namespace in which this user is who they are. Only a process without threads can.
pub(crate) fn enter_user() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // All users, where this one may say so: root can still work with the files of others.
    if std::fs::write("/proc/self/uid_map", "0 0 4294967295").is_ok() {
        return std::fs::write("/proc/self/gid_map", "0 0 4294967295");
    }
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// What this process starts from now on is in a process namespace of its own; the process itself sees other mounts and
/// another network.
pub(crate) fn enter_others(network: Network) -> io::Result<()> {
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    Ok(unshare(match network {
        Network::Off => own | CloneFlags::CLONE_NEWNET,
        Network::On => own,
    })?)
}

/// Brings up the loopback device of a new network: programs under test talk to themselves.
pub(crate) fn raise_loopback() -> io::Result<()> {
    // A netlink header (length, RTM_NEWLINK, request) and the first interface, to be up.
    const UP: [u32; 8] = [32, 16 | 1 << 16, 1, 0, 0, 1, 1, 1];
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let bytes: Vec<u8> = UP.iter().flat_map(|word| word.to_ne_bytes()).collect();
    rustix::net::sendto(&socket, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(())
}
