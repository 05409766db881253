//! How much of the workspace is kept for an undo.

/// How much is kept, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotBounds {
    /// Names that are listed.
    pub names: usize,
    /// Bytes of a file that is kept.
    pub file_bytes: u64,
    /// Bytes of all of them.
    pub total_bytes: u64,
}

impl SnapshotBounds {
    /// For the few paths a file tool names, and for what an undo replaces.
    pub const PATHS: Self = Self { names: usize::MAX, file_bytes: 64 << 20, total_bytes: 512 << 20 };
    /// For a checkpoint before a command.
    pub const WORKSPACE: Self = Self { names: 20_000, file_bytes: 1 << 20, total_bytes: 64 << 20 };
}
