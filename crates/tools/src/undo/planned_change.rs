//! The paths a call is about to change, found before it does.
//!
//! A path is followed as the operating system will follow it, step by step: links on the way are
//! resolved, and folders that are missing are those the tool will make.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::file_snapshot::FileSnapshot;
use super::observe::{SnapshotBuilder, path_text};
use super::snapshot_bounds::SnapshotBounds;
use super::unkept_files::UnkeptFiles;
use crate::{Secrets, Workspace};

/// A path a call is about to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedChange {
    /// The file there gets another content; a link at its end is followed, missing folders are made.
    Content(String),
    /// What has this name is replaced; missing folders are made.
    Entry(String),
    /// What has this name gets another one, and nothing of it is lost.
    Moved(String),
}

/// Where a path leads.
struct ChangeTarget {
    /// Folders on the way that are not there yet.
    missing: Vec<PathBuf>,
    path: PathBuf,
}

impl Workspace {
    /// Looks at what a call with these touches may change. A path that can't be used is passed over: the
    /// call will be refused for the same reason.
    #[must_use]
    pub fn keep(&self, planned_changes: &[PlannedChange], secrets: &Secrets) -> FileSnapshot {
        let mut looking = SnapshotBuilder::new(SnapshotBounds::PATHS, UnkeptFiles::default());
        for change in planned_changes {
            let Ok(Some(target)) = self.target(change) else { continue };
            for path in target.missing.iter().chain([&target.path]) {
                match (path_text(path), change) {
                    (None, _) => looking.left_out.add("name is no UTF-8", &path.to_string_lossy()),
                    (Some(path), PlannedChange::Moved(_)) => drop(looking.at(self, &path, secrets)),
                    (Some(path), PlannedChange::Content(_) | PlannedChange::Entry(_)) => {
                        if let Some(why) = looking.at(self, &path, secrets) {
                            looking.left_out.add(why, &path);
                        }
                    }
                }
            }
        }
        looking.finish()
    }

    /// Where `change` leads; `None` if it can't be used.
    fn target(&self, change: &PlannedChange) -> io::Result<Option<ChangeTarget>> {
        let (PlannedChange::Content(given) | PlannedChange::Entry(given) | PlannedChange::Moved(given)) = change;
        let Ok(relative) = self.relative(given) else { return Ok(None) };
        let mut target = ChangeTarget { missing: Vec::new(), path: PathBuf::new() };
        let mut parts = relative.components().peekable();
        while let Some(part) = parts.next() {
            let on_the_way = parts.peek().is_some();
            match part {
                Component::Normal(name) if on_the_way => self.pass(&mut target, Path::new(name))?,
                Component::Normal(name) => self.arrive(&mut target, Path::new(name), change)?,
                Component::ParentDir if target.path.pop() => {}
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Ok(None),
            }
        }
        Ok((!target.path.as_os_str().is_empty() && !self.is_closed(&target.path)).then_some(target))
    }

    /// Goes through a folder, which may be missing.
    fn pass(&self, target: &mut ChangeTarget, name: &Path) -> io::Result<()> {
        let next = target.path.join(name);
        match self.dir().symlink_metadata(&next) {
            Ok(metadata) if metadata.is_symlink() => target.path = self.dir().canonicalize(&next)?,
            Ok(_) => target.path = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !target.missing.contains(&next) {
                    target.missing.push(next.clone());
                }
                target.path = next;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The end of the way. The content of a file belongs where a link at its end leads.
    fn arrive(&self, target: &mut ChangeTarget, name: &Path, change: &PlannedChange) -> io::Result<()> {
        let next = target.path.join(name);
        let is_link = self.dir().symlink_metadata(&next).is_ok_and(|metadata| metadata.is_symlink());
        target.path = match change {
            PlannedChange::Content(_) if is_link => self.dir().canonicalize(&next)?,
            PlannedChange::Content(_) | PlannedChange::Entry(_) | PlannedChange::Moved(_) => next,
        };
        Ok(())
    }
}
