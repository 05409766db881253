//! How much of the workspace is kept for an undo.

/// Limits on what a snapshot keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotBounds {
    /// The number of names that are listed.
    pub names: usize,
    /// The size of the largest file that is kept, in bytes.
    pub file_bytes: u64,
    /// The total size of kept files, in bytes.
    pub total_bytes: u64,
}

impl SnapshotBounds {
    /// For the few paths that a file tool names, and for the files that an undo replaces.
    pub const PATHS: Self = Self { names: usize::MAX, file_bytes: 64 << 20, total_bytes: 512 << 20 };
    /// For a checkpoint before a command.
    pub const WORKSPACE: Self = Self { names: 20_000, file_bytes: 1 << 20, total_bytes: 64 << 20 };
}
