//! Checks whether the disk has room for journals.

use std::path::Path;

use super::check::Check;

const LITTLE: u64 = 1_000_000_000;
/// Below this many free bytes the next run may not get far.
const NONE: u64 = 20_000_000;

/// Checks the disk that holds `folder`, or would hold it.
pub(crate) fn check(folder: &Path) -> Check {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    match rustix::fs::statvfs(there) {
        Ok(disk) => judge(disk.f_bavail.saturating_mul(disk.f_frsize), there),
        Err(error) => Check::fail("disk", format!("{} can't be looked at: {error}", there.display())),
    }
}

fn judge(free: u64, folder: &Path) -> Check {
    let said = format!("{} free at {}", size(free), folder.display());
    let advice = "free some space, or keep sessions elsewhere with --data-dir";
    match free {
        ..NONE => Check::fail("disk", said).advise(advice),
        NONE..LITTLE => Check::warn("disk", said, advice),
        LITTLE.. => Check::ok("disk", said),
    }
}

fn size(bytes: u64) -> String {
    let (unit, divisor) = if bytes >= LITTLE { ("GB", 100_000_000) } else { ("MB", 100_000) };
    let tenths = bytes / divisor;
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::judge;

    #[test]
    fn less_than_a_gigabyte_is_a_warning_and_next_to_nothing_a_failure() {
        for (free, said) in [
            (12_345_678_901, "ok 12.3 GB free at /d"),
            (1_000_000_000, "ok 1.0 GB free at /d"),
            (999_999_999, "warn 999.9 MB free at /d"),
            (1_000_000, "fail 1.0 MB free at /d"),
        ] {
            let check = judge(free, Path::new("/d"));
            assert_eq!(format!("{} {}", check.state.word(), check.said), said);
        }
    }
}
