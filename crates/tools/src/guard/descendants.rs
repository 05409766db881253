//! The descendants of this process: adopting orphaned ones, finding and killing all.
//!
//! A process may fork before it is killed, and its process id may be reused before a signal is sent. So the guard opens
//! a pidfd, checks the process again, and only then signals it; the caller repeats this until the kernel reports that
//! no child is left.

use std::io;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{CAN_BE_FOUND, adopt, kill_all};
#[cfg(target_os = "linux")]
pub(super) use linux::{CAN_BE_FOUND, adopt, kill_all};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;

    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper};

    /// Whether processes that left the process group can be found on this system.
    pub(crate) const CAN_BE_FOUND: bool = true;

    /// Makes this process the new parent of every descendant whose own parent dies.
    pub(crate) fn adopt() -> super::io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Kills every descendant that exists at this moment, parents before their children, so that no shell prints a
    /// message about a killed child.
    pub(crate) fn kill_all() {
        let parents = parents();
        let ours = getpid();
        let mut generation = vec![ours];
        // Processes start and end while they are listed; there are never more generations than processes.
        for _ in 0..parents.len() {
            let children = parents.iter().filter(|(_, parent)| generation.contains(parent));
            let children: Vec<(Pid, Pid)> = children.map(|(child, parent)| (*child, *parent)).collect();
            children.iter().for_each(|(child, parent)| kill(*child, *parent, ours));
            generation = children.into_iter().map(|(child, _)| child).collect();
            if generation.is_empty() {
                return;
            }
        }
    }

    fn kill(pid: Pid, parent: Pid, ours: Pid) {
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
            return;
        };
        // Still the same process, or an orphan adopted since.
        if parent_of(pid).is_some_and(|now| now == parent || now == ours) {
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        }
    }

    /// Returns every process and its parent.
    fn parents() -> HashMap<Pid, Pid> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect()
    }

    /// Reads the fourth field of `stat`; the second one, the name, may contain parentheses and spaces.
    fn parent_of(pid: Pid) -> Option<Pid> {
        let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let (_, after_name) = stat.rsplit_once(')')?;
        Pid::from_raw(after_name.split_whitespace().nth(1)?.parse().ok()?)
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    pub(crate) const CAN_BE_FOUND: bool = false;

    pub(crate) fn adopt() -> super::io::Result<()> {
        Ok(())
    }

    pub(crate) fn kill_all() {}
}
