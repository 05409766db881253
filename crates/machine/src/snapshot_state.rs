//! Whether what a call may change was kept first.

/// Whether the files a call may change are kept, so that it can be undone (T9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotState {
    /// There are none.
    NotNeeded,
    /// Not yet: the call must not run.
    Missing,
    /// They are.
    Taken,
}
