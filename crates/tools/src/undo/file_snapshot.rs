//! What a look at files gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_vocab::{Coverage, FileState};

/// Files as they were found.
#[derive(Clone, Debug)]
pub struct FileSnapshot {
    /// What is at each path.
    pub files: BTreeMap<String, FileState>,
    /// What those are with their content that are recorded without it: as it happens, they can be kept now.
    pub kept: BTreeMap<String, FileState>,
    /// The contents of those that are kept.
    pub contents: Vec<Arc<[u8]>>,
    /// How much that is of what was looked at.
    pub coverage: Coverage,
}
