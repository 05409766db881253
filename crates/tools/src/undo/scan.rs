//! Walks the workspace for a checkpoint: every file, folder and symlink outside `.git` and not ignored by `.gitignore`,
//! within bounds. Follows no symlink.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};
use ignore::gitignore::Gitignore;

use super::observe::{SPECIAL, path_text};
use super::omitted_files::OmittedFiles;
use crate::builtin::walk::{EntryKind, ignore_file, is_ignored};
use crate::{Workspace, no_follow};

/// The maximum depth of a walk, which bounds the number of open file descriptors.
const DEEPEST: usize = 64;
const GIT: &str = "git's own";
const IGNORED: &str = "ignored";

/// Whether every name was listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ListingExtent {
    #[default]
    Whole,
    CutShort,
}

/// An entry found by the walk.
pub(super) struct ScannedEntry<'a> {
    pub(super) folder: &'a Dir,
    pub(super) name: &'a Path,
    /// Relative to the workspace.
    pub(super) path: String,
    pub(super) metadata: Metadata,
}

/// The paths that a walk skipped.
#[derive(Clone, Debug, Default)]
pub(super) struct SkippedPaths {
    pub(super) listing: ListingExtent,
    /// Folders that it did not enter, and paths that it did not read.
    pub(super) over: BTreeSet<PathBuf>,
    /// Those of them that have no content: pipes, sockets and devices. Using one changes its times.
    pub(super) special: BTreeSet<PathBuf>,
    pub(super) left_out: OmittedFiles,
}

impl SkippedPaths {
    /// Whether the walk skipped `path`, or a folder it is in.
    pub(super) fn over(&self, path: &Path) -> bool {
        path.ancestors().any(|ancestor| self.over.contains(ancestor))
    }

    fn skip(&mut self, why: &'static str, path: &Path) {
        self.left_out.add(why, &path.to_string_lossy());
        self.over.insert(path.to_owned());
    }
}

/// A walk in progress.
struct ScanWalk<'a, 'v> {
    workspace: &'a Workspace,
    names: usize,
    skipped: SkippedPaths,
    ignores: Vec<Gitignore>,
    visit: &'v mut dyn FnMut(ScannedEntry<'_>),
}

/// Visits every entry of the workspace, in name order within a folder, up to `names` names.
pub(super) fn scan(workspace: &Workspace, names: usize, visit: &mut dyn FnMut(ScannedEntry<'_>)) -> SkippedPaths {
    let mut walk = ScanWalk { workspace, names, skipped: SkippedPaths::default(), ignores: Vec::new(), visit };
    if let ControlFlow::Break(()) = walk.descend(workspace.dir(), Path::new("")) {
        walk.skipped.listing = ListingExtent::CutShort;
        walk.skipped.left_out.add("beyond the bounds", &format!("all after the first {names} names"));
    }
    walk.skipped
}

impl ScanWalk<'_, '_> {
    fn descend(&mut self, folder: &Dir, path: &Path) -> ControlFlow<()> {
        let depth = self.ignores.len();
        self.ignores.extend(ignore_file(folder, path));
        let Ok(entries) = folder.entries() else {
            self.skipped.skip("not readable", path);
            return ControlFlow::Continue(());
        };
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| PathBuf::from(entry.file_name())).collect();
        names.sort();
        for name in names {
            if let Ok(metadata) = folder.symlink_metadata(&name) {
                self.visit_entry(folder, &name, &path.join(&name), metadata)?;
            }
        }
        self.ignores.truncate(depth);
        ControlFlow::Continue(())
    }

    fn visit_entry(&mut self, folder: &Dir, name: &Path, path: &Path, metadata: Metadata) -> ControlFlow<()> {
        let kind = if metadata.is_dir() { EntryKind::Folder } else { EntryKind::File };
        let Some(shown) = path_text(path) else {
            self.skipped.skip("name is no UTF-8", path);
            return ControlFlow::Continue(());
        };
        if self.workspace.is_closed(path) {
            // Windlass's own data; no report about it is needed.
            self.skipped.over.insert(path.to_owned());
            return ControlFlow::Continue(());
        }
        let why = match kind {
            _ if name == Path::new(".git") => Some(GIT),
            _ if is_ignored(&self.ignores, path, kind) => Some(IGNORED),
            EntryKind::Folder if path.components().count() > DEEPEST => Some("too deep"),
            EntryKind::Folder | EntryKind::File => None,
        };
        if let Some(why) = why {
            self.skipped.skip(why, path);
            return ControlFlow::Continue(());
        }
        if !metadata.is_dir() && !metadata.is_file() && !metadata.is_symlink() {
            self.skipped.special.insert(path.to_owned());
            self.skipped.skip(SPECIAL, path);
            return ControlFlow::Continue(());
        }
        if self.names == 0 {
            return ControlFlow::Break(());
        }
        self.names -= 1;
        (self.visit)(ScannedEntry { folder, name, path: shown, metadata });
        match kind {
            EntryKind::File => ControlFlow::Continue(()),
            EntryKind::Folder => match no_follow::open_subfolder(folder, name.as_os_str()) {
                Ok(inner) => self.descend(&inner, path),
                Err(_) => {
                    self.skipped.skip("not readable", path);
                    ControlFlow::Continue(())
                }
            },
        }
    }
}
