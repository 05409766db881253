//! Undo on the disk (T9): the states of files are read before and after a call, and can be restored.
//!
//! The protocol: before a call of a tool that changes files, [`Workspace::keep`] reads the paths it
//! names, or [`Checkpoints::before`] the whole workspace, within bounds; the states are recorded and
//! the contents stored before the call runs. After it [`Workspace::snapshot_paths`] and [`Checkpoints::after`]
//! return the new states. [`Workspace::restore`] restores paths, one step per file, and
//! can be repeated after a crash at any point.
//!
//! All access goes through the workspace's capability, and none into a folder that is closed to
//! tools. A file that contains a secret is not stored (X1).

mod aside;
mod checkpoint;
mod durable;
mod file_snapshot;
mod moved_inodes;
mod observe;
mod omitted_files;
mod planned_change;
mod restore;
mod scan;
mod snapshot_bounds;
mod unkept_files;

pub use checkpoint::{Checkpoint, Checkpoints};
pub use file_snapshot::FileSnapshot;
pub use planned_change::PlannedChange;
pub use snapshot_bounds::SnapshotBounds;
pub use unkept_files::UnkeptFiles;
