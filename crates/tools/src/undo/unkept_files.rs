//! What is recorded without its content. How much a look keeps depends on its bounds, and on the secrets that are
//! known by then; what was not kept once is known again by its size, its time and its number alone.

use std::collections::HashSet;

use cap_std::fs::Metadata;
use windlass_vocab::FileState;

use super::observe::unkept;

/// Things that are recorded without their content. A look takes them for that, whatever it could keep of them.
#[derive(Clone, Debug, Default)]
pub struct UnkeptFiles {
    unkept: HashSet<FileState>,
}

impl UnkeptFiles {
    /// Those of these. One that is recorded with its content too, under another of its names, is known by that.
    pub fn of<'s>(states: impl Iterator<Item = &'s FileState> + Clone) -> Self {
        let is_unkept = |state: &&FileState| matches!(state, FileState::Unkept { .. });
        let kept: HashSet<u64> =
            states.clone().filter(|state| !is_unkept(state)).filter_map(FileState::inode).collect();
        let is_alone = |state: &&FileState| state.inode().is_some_and(|inode| !kept.contains(&inode));
        Self { unkept: states.filter(is_unkept).filter(is_alone).cloned().collect() }
    }

    /// What it is recorded as.
    pub(super) fn find(&self, metadata: &Metadata) -> Option<&FileState> {
        self.unkept.get(&unkept(metadata)).filter(|_| !metadata.is_dir())
    }

    /// Whether this is one of them.
    pub(super) fn has(&self, state: &FileState) -> bool {
        self.unkept.contains(state)
    }
}
