//! Finds the paths that an object leaves or reaches by a move, by its inode: a restoration of thousands of files need not
//! compare each with each.

use std::collections::HashMap;

use windlass_vocab::{Change, Changes, FileState};

/// Paths with their changes.
type ChangedPaths<'a> = Vec<(&'a str, &'a Change)>;

/// The changes of a restoration by the inodes that they record.
pub(super) struct MovedInodes<'a> {
    from: HashMap<u64, ChangedPaths<'a>>,
    to: HashMap<u64, ChangedPaths<'a>>,
}

impl<'a> MovedInodes<'a> {
    pub(super) fn of(changes: &'a Changes) -> Self {
        let (mut from, mut to): (HashMap<u64, ChangedPaths<'a>>, HashMap<u64, ChangedPaths<'a>>) = <_>::default();
        for (path, change) in changes {
            let entry = (path.as_str(), change);
            change.was.inode().into_iter().for_each(|inode| from.entry(inode).or_default().push(entry));
            change.now.inode().into_iter().for_each(|inode| to.entry(inode).or_default().push(entry));
        }
        Self { from, to }
    }

    /// Returns the changes before which something with the inode of `thing` was there.
    pub(super) fn left_by(&self, thing: &FileState) -> impl Iterator<Item = (&'a str, &'a Change)> + '_ {
        thing.inode().and_then(|inode| self.from.get(&inode)).into_iter().flatten().copied()
    }

    /// Returns the changes after which something with the inode of `thing` is there.
    pub(super) fn reached_by(&self, thing: &FileState) -> impl Iterator<Item = (&'a str, &'a Change)> + '_ {
        thing.inode().and_then(|inode| self.to.get(&inode)).into_iter().flatten().copied()
    }
}
