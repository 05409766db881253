//! The result of a scan of files.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_vocab::{Coverage, FileState};

/// The states of files.
#[derive(Clone, Debug)]
pub struct FileSnapshot {
    /// The state at each path.
    pub files: BTreeMap<String, FileState>,
    /// States with content of files that are recorded without it, because this scan was able to keep them.
    pub kept: BTreeMap<String, FileState>,
    /// The contents of the files that are kept.
    pub contents: Vec<Arc<[u8]>>,
    /// How much of the scanned files is kept.
    pub coverage: Coverage,
}
