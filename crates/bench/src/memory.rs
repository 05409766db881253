//! What this process holds, as the kernel counts it.

use anyhow::{Context as _, Result};

/// Memory of a process, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Held now.
    pub resident: u64,
    /// The most it ever held.
    pub peak: u64,
}

/// What this process holds.
pub fn of_this_process() -> Result<Memory> {
    let status = std::fs::read_to_string("/proc/self/status").context("memory can be read on Linux only")?;
    let field = |name| field(&status, name).with_context(|| format!("/proc/self/status does not tell {name}"));
    Ok(Memory { resident: field("VmRSS:")?, peak: field("VmHWM:")? })
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn a_field_is_read_in_kib() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!((field(status, "VmRSS:"), field(status, "VmHWM:")), (Some(1024), Some(2048)));
        assert_eq!(field(status, "VmSwap:"), None);
    }
}
