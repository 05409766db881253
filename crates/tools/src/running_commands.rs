//! The commands of one sandbox that run concurrently. Files that one of them created and must not create are set aside
//! when it ends. A command that begins meanwhile would find them, take them for the person's files, and might create
//! them again (X3). So for each command only the paths known to all commands started before it count as existing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_sandbox::{Confinement, ProtectedLink, ScanExtent};

/// The paths that existed before the running commands began.
#[derive(Debug, Default)]
pub(crate) struct RunningCommands {
    /// Locked during a scan, so that no other command begins meanwhile.
    looking: Mutex<()>,
    known: Mutex<Vec<Arc<PathsBefore>>>,
}

/// The result of the scan before a command.
#[derive(Debug, PartialEq, Eq)]
struct PathsBefore {
    /// Existing paths that are closed to the command.
    closed: BTreeSet<PathBuf>,
    /// Symlinks that must stay unchanged.
    links: Vec<ProtectedLink>,
    scan_extent: ScanExtent,
}

/// A running command; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct RunningCommand {
    running_commands: Arc<RunningCommands>,
    known: Arc<PathsBefore>,
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        let mut known = self.running_commands.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|other| !Arc::ptr_eq(other, &self.known));
    }
}

impl RunningCommands {
    /// Calls `look` to compute a command's confinement, and registers the command as running beside the others.
    pub(crate) fn join(
        self: &Arc<Self>,
        look: impl FnOnce() -> Option<Confinement>,
    ) -> Option<(Confinement, RunningCommand)> {
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        // Include commands that end during the scan: it may have seen files they created.
        let others = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut confinement = look()?;
        others.iter().for_each(|other| other.exclude_newer(&mut confinement));
        let known = Arc::new(PathsBefore::of(&confinement));
        self.known.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&known));
        Some((confinement, RunningCommand { running_commands: Arc::clone(self), known }))
    }
}

impl PathsBefore {
    fn of(confinement: &Confinement) -> Self {
        let closed = confinement.protected.iter().chain(&confinement.unreadable);
        let closed = closed.filter(|path| !confinement.made_meanwhile.contains(path)).cloned().collect();
        Self { closed, links: confinement.links.clone(), scan_extent: confinement.scan_extent }
    }

    /// Removes from the paths known to `confinement` those that did not exist before this command.
    fn exclude_newer(&self, confinement: &mut Confinement) {
        // A path outside this command's scan may have existed before.
        confinement.scan_extent = confinement.scan_extent.max(self.scan_extent);
        let found = confinement.protected.iter().chain(&confinement.unreadable);
        let new: Vec<PathBuf> = found.filter(|path| !self.has(path)).cloned().collect();
        confinement.made_meanwhile.extend(new);
        confinement.made_meanwhile.sort();
        confinement.made_meanwhile.dedup();
        // A symlink that this command created is not restored; one that it changed is restored to its earlier target.
        let as_it_was = |link: &ProtectedLink| self.links.iter().find(|known| known.path == link.path).cloned();
        confinement.links = confinement.links.iter().filter_map(as_it_was).collect();
    }

    /// Whether this path was closed, is inside a closed path, or contains one.
    fn has(&self, path: &Path) -> bool {
        let is_around = || self.closed.range(path.to_owned()..).next().is_some_and(|next| next.starts_with(path));
        path.ancestors().any(|above| self.closed.contains(above)) || is_around()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str], links: &[(&str, &str)]) -> Confinement {
        let link = |(path, target): &(&str, &str)| ProtectedLink { path: path.into(), target: target.into() };
        let (protected, links) = (paths.iter().map(PathBuf::from).collect(), links.iter().map(link).collect());
        Confinement { protected, links, ..Confinement::default() }
    }

    fn paths(confinement: &Confinement) -> Vec<&str> {
        confinement.made_meanwhile.iter().filter_map(|path| path.to_str()).collect()
    }

    // proves X3: a `.vscode` that one command creates does not count as existing before the next
    #[test]
    fn what_appears_while_a_command_runs_is_not_known_to_the_next() {
        let running_commands = Arc::<RunningCommands>::default();
        let (first, running) = running_commands.join(|| Some(found(&["/w/a", "/w/m/x"], &[("/w/l", "a")]))).unwrap();
        assert!(first.made_meanwhile.is_empty());
        let more = || Some(found(&["/w/.vscode", "/w/a", "/w/a/b", "/w/m"], &[("/w/l", "evil"), ("/w/new", "evil")]));
        let (second, still) = running_commands.join(more).unwrap();
        assert_eq!(paths(&second), ["/w/.vscode"]);
        assert_eq!(second.links, found(&[], &[("/w/l", "a")]).links);
        drop(running);
        // The second command inherits the state from the first.
        let (third, last) = running_commands.join(more).unwrap();
        assert_eq!(paths(&third), ["/w/.vscode"]);
        drop((still, last));
        assert!(running_commands.join(more).unwrap().0.made_meanwhile.is_empty(), "nobody runs beside it");
    }

    // proves X3: a path outside the earlier scan is not taken for new
    #[test]
    fn a_look_that_went_less_far_limits_the_next() {
        let running_commands = Arc::<RunningCommands>::default();
        let short = Confinement { scan_extent: ScanExtent::FirstEntries, ..Confinement::default() };
        let _first = running_commands.join(|| Some(short)).unwrap();
        assert_eq!(
            running_commands.join(|| Some(Confinement::default())).unwrap().0.scan_extent,
            ScanExtent::FirstEntries
        );
        assert!(running_commands.join(|| None).is_none());
    }

    // proves X3: a command that ends during the next command's scan may have created what the scan found
    #[test]
    fn a_command_that_ends_during_the_look_counts() {
        let running_commands = Arc::<RunningCommands>::default();
        let (_, running) = running_commands.join(|| Some(found(&[], &[]))).unwrap();
        let look = || {
            drop(running);
            Some(found(&["/w/.vscode"], &[]))
        };
        assert_eq!(paths(&running_commands.join(look).unwrap().0), ["/w/.vscode"]);
    }
}
