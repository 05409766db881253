//! Landlock: the second layer of protection, and the only one without namespaces. The kernel refuses access that is not
//! on the list, even to root.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

use crate::Confinement;
use crate::Isolation;

/// The newest version this file was written for; features that the kernel lacks are omitted, and
/// [`crate::SandboxSupport`] reports them.
const NEWEST: ABI = ABI::V9;

/// Devices that every command may write to, if they exist: its own, or harmless ones of the machine.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Whether this kernel has any version of Landlock. Restricts nothing.
#[must_use]
pub fn has_landlock() -> bool {
    let oldest = AccessFs::from_all(ABI::V1);
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(oldest);
    rules.and_then(Ruleset::create).is_ok()
}

/// Restricts this thread and its children. Returns the version of Landlock that is in force; 0 if none.
pub(crate) fn restrict(confinement: &Confinement) -> io::Result<u8> {
    let write = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let readable = match confinement.isolation {
        Isolation::Namespaces | Isolation::Bubblewrap(_) | Isolation::Seatbelt => vec![PathBuf::from("/")],
        Isolation::Landlock => around(Path::new("/"), &confinement.unreadable),
    };
    let writable = confinement.writable.iter().chain([&confinement.temp]).cloned();
    let devices = DEVICES.iter().map(PathBuf::from);
    let tmp = Path::new(crate::places::TEMP)
        .canonicalize()
        .into_iter()
        .filter(|_| confinement.isolation != Isolation::Landlock);
    let all = readable.into_iter().map(|path| (path, read));
    for (path, access) in all.chain(writable.chain(devices).chain(tmp).map(|path| (path, write))) {
        // A path that does not exist needs no rule.
        let Ok(handle) = PathFd::new(&path) else { continue };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
        rules = rules.add_rule(PathBeneath::new(handle, access)).map_err(io::Error::other)?;
    }
    let status = rules.restrict_self().map_err(io::Error::other)?;
    Ok(match status.landlock {
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u8,
    })
}

/// Returns the smallest set of paths that covers everything below `folder` except `left_out`.
fn around(folder: &Path, left_out: &[PathBuf]) -> Vec<PathBuf> {
    if left_out.iter().any(|path| path == folder) {
        return Vec::new();
    }
    if !left_out.iter().any(|path| path.starts_with(folder)) {
        return vec![folder.to_owned()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| !entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .flat_map(|entry| around(&entry.path(), left_out))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X3
    #[test]
    fn landlock_is_there_where_it_holds() {
        // On a thread of its own, which stays restricted from then on.
        let held = std::thread::spawn(|| {
            rustix::thread::set_no_new_privs(true).unwrap();
            restrict(&Confinement { isolation: Isolation::Landlock, ..Confinement::default() })
        });
        assert_eq!(has_landlock(), held.join().unwrap().unwrap() > 0);
    }

    // proves X3
    #[test]
    fn what_may_be_read_is_everything_but_what_may_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["a/x", "a/y", "b/z"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let mut paths = around(&root, &[root.join("a/x")]);
        paths.sort();
        assert_eq!(paths, [root.join("a/y"), root.join("b")]);
        assert_eq!(around(&root, &[]), [root]);
    }
}
