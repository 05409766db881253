//! Memory and processor time of processes, as the kernel counts them.

use std::time::Duration;

use anyhow::{Context as _, Result};

/// Memory of a process, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Memory in use now.
    pub resident: u64,
    /// The most memory that was ever in use.
    pub peak: u64,
}

/// The memory of this process.
pub fn of_this_process() -> Result<ProcessMemory> {
    read("/proc/self/status")
}

/// The memory of another process.
pub fn of_process(process: u32) -> Result<ProcessMemory> {
    read(&format!("/proc/{process}/status"))
}

fn read(path: &str) -> Result<ProcessMemory> {
    let status = std::fs::read_to_string(path).context("memory can be read on Linux only")?;
    let field = |name| field(&status, name).with_context(|| format!("{path} does not tell {name}"));
    Ok(ProcessMemory { resident: field("VmRSS:")?, peak: field("VmHWM:")? })
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// The kernel reports processor time in hundredths of a second, whatever its own clock is.
const TICK: Duration = Duration::from_millis(10);

/// The processor time that a process has used, in kernel and user mode.
pub fn processor_time(process: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).context("the program is gone")?;
    ticks(&stat).map(|ticks| TICK * ticks).context("/proc/PID/stat does not tell the time")
}

/// The sum of the fourteenth and fifteenth field; the second is a name in parentheses that may contain any character.
fn ticks(stat: &str) -> Option<u32> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u32>().ok()? + fields.next()?.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{field, ticks};

    #[test]
    fn processor_time_is_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194304 100 0 0 0 31 11 0 0 20 0 1 0 99";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(ticks("7 (a) S 1"), None);
    }

    #[test]
    fn a_field_is_read_in_kib() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!((field(status, "VmRSS:"), field(status, "VmHWM:")), (Some(1024), Some(2048)));
        assert_eq!(field(status, "VmSwap:"), None);
    }
}
