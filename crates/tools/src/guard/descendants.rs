//! The descendants of this process: adopting orphans among them, finding and killing all.
//!
//! A process that is killed may fork first, and a number may be another process's by the time a
//! signal is sent. So a process is held by a handle, looked at again, and only then signalled; and
//! the caller goes round until the kernel says that no child is left.

use std::io;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{CAN_BE_FOUND, adopt, kill_all};
#[cfg(target_os = "linux")]
pub(super) use linux::{CAN_BE_FOUND, adopt, kill_all};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;

    use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper};

    /// Whether processes that left the group can be found here.
    pub(crate) const CAN_BE_FOUND: bool = true;

    /// From now on a descendant whose parent dies becomes a child of this process.
    pub(crate) fn adopt() -> super::io::Result<()> {
        Ok(set_child_subreaper(Some(getpid()))?)
    }

    /// Kills every descendant there is at this moment, parents before their children, so that no
    /// shell lives to remark on the death of its own.
    pub(crate) fn kill_all() {
        let parents = parents();
        let ours = getpid();
        let mut generation = vec![ours];
        // Processes come and go while they are listed; there are never more generations than processes.
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
        // Still the same process, or an orphan we have adopted since.
        if parent_of(pid).is_some_and(|now| now == parent || now == ours) {
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        }
    }

    /// Every process and its parent.
    fn parents() -> HashMap<Pid, Pid> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        pids.filter_map(|pid| Some((pid, parent_of(pid)?))).collect()
    }

    /// The fourth field of `stat`; the second, the name, may itself have parentheses and spaces in it.
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
