//! Whether the files a call may change were saved before it runs.

/// Whether the files a call may change were saved, so that it can be undone (T9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotState {
    /// There are no such files.
    NotNeeded,
    /// Not saved yet: the call must not run.
    Missing,
    /// Saved.
    Taken,
}
