//! What undo does to the disk (T9): files are looked at before a call and after it, and put back.
//!
//! The protocol: before a call of a tool that keeps files, [`Workspace::keep`] looks at the paths it
//! names, or [`Checkpoints::before`] at the whole workspace, within bounds; the states are recorded and
//! the contents stored before the call runs. After it [`Workspace::snapshot_paths`] and [`Checkpoints::after`]
//! say what became of them. [`Workspace::restore`] makes paths what they were, one step per file, and
//! may be done again after a crash at any point.
//!
//! Everything goes through the workspace's capability, and nothing of it into a folder that is closed to
//! tools. A file with a secret in it is not kept (X1).

mod aside;
mod checkpoint;
mod file_snapshot;
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
