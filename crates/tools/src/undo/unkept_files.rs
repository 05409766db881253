//! Files that are recorded without their content. How much a scan keeps depends on its bounds, and on the secrets that
//! are known by then; a file that was not kept once is recognized by size, time and inode alone.

use std::collections::HashSet;

use cap_std::fs::Metadata;
use windlass_vocab::FileState;

use super::observe::unkept;

/// Files that are recorded without their content. A scan reports them that way, even if it could keep their content.
#[derive(Clone, Debug, Default)]
pub struct UnkeptFiles {
    unkept: HashSet<FileState>,
}

impl UnkeptFiles {
    /// Collects the unkept ones of `states`. A file that another hard link records with its content is not included.
    pub fn of<'s>(states: impl Iterator<Item = &'s FileState> + Clone) -> Self {
        let is_unkept = |state: &&FileState| matches!(state, FileState::Unkept { .. });
        let kept: HashSet<u64> =
            states.clone().filter(|state| !is_unkept(state)).filter_map(FileState::inode).collect();
        let is_alone = |state: &&FileState| state.inode().is_some_and(|inode| !kept.contains(&inode));
        Self { unkept: states.filter(is_unkept).filter(is_alone).cloned().collect() }
    }

    /// Returns the recorded state of the file with this metadata.
    pub(super) fn find(&self, metadata: &Metadata) -> Option<&FileState> {
        self.unkept.get(&unkept(metadata)).filter(|_| !metadata.is_dir())
    }

    /// Whether `state` is one of them.
    pub(super) fn has(&self, state: &FileState) -> bool {
        self.unkept.contains(state)
    }
}
