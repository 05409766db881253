//! Determines the paths that a call is about to change, before it does.
//!
//! A path is resolved as the operating system will resolve it, component by component: symlinks are followed, and
//! missing folders are those that the tool will create.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::file_snapshot::FileSnapshot;
use super::observe::{SnapshotBuilder, path_text};
use super::snapshot_bounds::SnapshotBounds;
use super::unkept_files::UnkeptFiles;
use crate::{Secrets, Workspace};

/// A path a call is about to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedChange {
    /// The file gets new content; a symlink at the end of the path is followed, missing folders are created.
    Content(String),
    /// The file of this name is replaced, with missing folders created, or deleted.
    Entry(String),
    /// The file of this name is renamed, and nothing of it is lost.
    Moved(String),
}

impl PlannedChange {
    /// Returns the path.
    #[must_use]
    pub fn into_path(self) -> String {
        match self {
            Self::Content(path) | Self::Entry(path) | Self::Moved(path) => path,
        }
    }

    /// The change of a tool that gives the file at its argument `path` new content.
    pub(crate) fn content_of(arguments: &Value) -> Vec<Self> {
        let path = arguments.get("path").and_then(Value::as_str);
        path.map(|path| Self::Content(path.to_owned())).into_iter().collect()
    }
}

/// The path that a planned change resolves to.
struct ChangeTarget {
    /// Folders of the path that do not exist yet.
    missing: Vec<PathBuf>,
    path: PathBuf,
}

impl Workspace {
    /// Takes a snapshot of the paths that a call with these planned changes may change. Skips a path that can't be
    /// used: the call will be refused for the same reason.
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

    /// Resolves the path of `change`; `None` if it can't be used.
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

    /// Resolves a folder of the path, which may be missing.
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

    /// Resolves the last component. A change of content follows a symlink there.
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
