//! The commands of one sandbox that run at the same time. What one of them has made and may not is set aside when it has
//! ended; a command that begins meanwhile would find it there, take it for the person's, and might make it anew (X3). So a
//! command counts only what those beside it knew of before it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_sandbox::{Confinement, ProtectedLink, ScanExtent};

/// What the commands that run now found before they began.
#[derive(Debug, Default)]
pub(crate) struct RunningCommands {
    /// Held while it is looked for one: nobody else begins then.
    looking: Mutex<()>,
    known: Mutex<Vec<Arc<PathsBefore>>>,
}

/// What was found before a command.
#[derive(Debug, PartialEq, Eq)]
struct PathsBefore {
    /// What was there and is closed to it.
    closed: BTreeSet<PathBuf>,
    /// Links that stay as they are.
    links: Vec<ProtectedLink>,
    scan_extent: ScanExtent,
}

/// A command that runs, until this is dropped.
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
    /// Finds out by `look` what a command is held to, and lets it run beside those that run already.
    pub(crate) fn join(
        self: &Arc<Self>,
        look: impl FnOnce() -> Option<Confinement>,
    ) -> Option<(Confinement, RunningCommand)> {
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that end while it is looked count too: what they made may have been seen.
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

    /// Takes from what counts as known in `confinement` what was not there before this command.
    fn exclude_newer(&self, confinement: &mut Confinement) {
        // What this look did not come to may have been there.
        confinement.scan_extent = confinement.scan_extent.max(self.scan_extent);
        let found = confinement.protected.iter().chain(&confinement.unreadable);
        let new: Vec<PathBuf> = found.filter(|path| !self.has(path)).cloned().collect();
        confinement.made_meanwhile.extend(new);
        confinement.made_meanwhile.sort();
        confinement.made_meanwhile.dedup();
        // A link that this command has made is put back by nobody, and one that it has changed as it was before.
        let as_it_was = |link: &ProtectedLink| self.links.iter().find(|known| known.path == link.path).cloned();
        confinement.links = confinement.links.iter().filter_map(as_it_was).collect();
    }

    /// Whether this was closed, or part of what was, or has something in it that was.
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

    // proves X3: `.vscode` of one command is not what was there before the next
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
        // The second has it from the first.
        let (third, last) = running_commands.join(more).unwrap();
        assert_eq!(paths(&third), ["/w/.vscode"]);
        drop((still, last));
        assert!(running_commands.join(more).unwrap().0.made_meanwhile.is_empty(), "nobody runs beside it");
    }

    // proves X3: what a look did not come to is not taken for new
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

    // proves X3: one that ends while it is looked for the next has made what was seen
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
