//! The files of a workspace that are looked at without a call: those that `search_files` would search, and that no rule
//! forbids to read or asks about (X5). Their text is read with [`Workspace::beginning`], which replaces secrets.

use std::ops::ControlFlow;
use std::sync::Arc;

use cap_std::fs::{Metadata, MetadataExt};
use windlass_vocab::{TextOrigin, Verdict};

use super::read_file::ReadFile;
use super::search_files::SearchFiles;
use super::walk::{WalkExtent, walk_at_most};
use crate::about_files::READ;
use crate::{AskPolicy, FileRules, Permissions, Tool, Workspace, contains_placeholder};

/// Tells whether a file has changed: its size, modification time and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentStamp {
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: i64,
    /// Its inode.
    pub inode: u64,
}

impl ContentStamp {
    fn of(metadata: &Metadata) -> Self {
        let modified = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
        Self { size: metadata.len(), modified, inode: metadata.ino() }
    }
}

/// Visits the regular files of the workspace whose path is text, in the order of their names, until `visit` breaks or
/// `most` entries of folders were looked at, so that a folder with a million files is not walked through for a list of
/// fifty. A workspace that can't be opened has none.
pub fn readable_files(
    workspace: &Workspace,
    rules: &FileRules,
    most: usize,
    visit: &mut dyn FnMut(&str, ContentStamp) -> ControlFlow<()>,
) -> WalkExtent {
    let walked = walk_at_most(most, workspace, ".", rules, &mut |found| {
        let Some(path) = found.path.to_str() else { return ControlFlow::Continue(()) };
        // A path with a secret in it can't be named to the model, and one with a placeholder can't be opened.
        if workspace.secrets().is_in(path.as_bytes()) || contains_placeholder(path) {
            return ControlFlow::Continue(());
        }
        match found.folder.symlink_metadata(found.name) {
            Ok(metadata) if metadata.is_file() => visit(path, ContentStamp::of(&metadata)),
            Ok(_) | Err(_) => ControlFlow::Continue(()),
        }
    });
    // That there is no such folder is no error here.
    walked.map_or(WalkExtent::Whole, |report| report.extent)
}

/// Whether these permissions let the model search and read the whole workspace without asking, apart from single files
/// that rules name.
#[must_use]
pub fn reads_unasked(workspace: &Arc<Workspace>, permissions: &Permissions) -> bool {
    let about = workspace.about(".", READ);
    let search = SearchFiles::new(Arc::clone(workspace));
    let read = ReadFile::new(Arc::clone(workspace));
    let allows =
        |tool: &dyn Tool| permissions.check(tool.spec(), &about, AskPolicy::ByEffect, &[]).verdict == Verdict::Allow;
    allows(&search) && allows(&read)
}

impl Workspace {
    /// Returns the stamp of the regular file at `path`; symlinks are not followed.
    #[must_use]
    pub fn content_stamp(&self, path: &str) -> Option<ContentStamp> {
        let metadata = self.dir().symlink_metadata(path).ok()?;
        metadata.is_file().then(|| ContentStamp::of(&metadata))
    }

    /// The same for a file that a call changes: what was in it before may be in the result.
    pub(crate) fn origin_of_existing(&self, path: &str) -> Option<TextOrigin> {
        self.exists(path).is_ok_and(|there| there).then(|| self.text_origin(path)).flatten()
    }

    /// Returns where the text of the file at `path` came from, if nobody has checked it (X4).
    #[must_use]
    pub fn text_origin(&self, path: &str) -> Option<TextOrigin> {
        self.untracked(path).then(|| TextOrigin::File { path: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::{WalkExtent, readable_files};
    use crate::{FileRules, Workspace};

    // proves C1: a folder with a million files is not walked through
    #[test]
    fn a_walk_ends_after_the_entries_that_it_may_look_at() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("a")).expect("made");
        for name in ["a/1", "a/2", "a/3", "b"] {
            std::fs::write(dir.path().join(name), "x").expect("written");
        }
        let workspace = Workspace::open(dir.path()).expect("a workspace");
        let walked = |most: usize| {
            let mut seen = 0;
            let extent = readable_files(&workspace, &FileRules::default(), most, &mut |_, _| {
                seen += 1;
                ControlFlow::Continue(())
            });
            (seen, extent)
        };
        assert_eq!(walked(5), (4, WalkExtent::Whole));
        assert_eq!(walked(4), (3, WalkExtent::Cut));
        assert_eq!(walked(0), (0, WalkExtent::Cut));
    }
}
