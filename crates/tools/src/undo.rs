//! What undo does to the disk (T9): files are looked at before a call and after it, and put back.
//!
//! The protocol: before a call of a tool that keeps files, [`Workspace::keep`] looks at the paths it
//! names, or [`Checkpoints::before`] at the whole workspace, within bounds; the states are recorded and
//! the contents stored before the call runs. After it [`Workspace::look_at`] and [`Checkpoints::after`]
//! say what became of them. [`Workspace::restore`] makes paths what they were, one step per file, and
//! may be done again after a crash at any point.
//!
//! Everything goes through the workspace's capability, and nothing of it into a folder that is closed to
//! tools. A file with a secret in it is not kept (X1).

mod aside;
mod checkpoint;
mod look;
mod recorded;
mod restore;
mod scan;
mod touch;

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_vocab::{Coverage, FileState, shown_path};

pub use checkpoint::{Checkpoint, Checkpoints};
pub use recorded::Recorded;
pub use touch::Touch;

/// How much is kept, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Names that are listed.
    pub names: usize,
    /// Bytes of a file that is kept.
    pub file_bytes: u64,
    /// Bytes of all of them.
    pub total_bytes: u64,
}

impl Bounds {
    /// For the few paths a file tool names, and for what an undo replaces.
    pub const PATHS: Self = Self { names: usize::MAX, file_bytes: 64 << 20, total_bytes: 512 << 20 };
    /// For a checkpoint before a command.
    pub const WORKSPACE: Self = Self { names: 20_000, file_bytes: 1 << 20, total_bytes: 64 << 20 };
}

/// Files as they were found.
#[derive(Clone, Debug)]
pub struct Looked {
    /// What is at each path.
    pub files: BTreeMap<String, FileState>,
    /// What those are with their content that are recorded without it: as it happens, they can be kept now.
    pub kept: BTreeMap<String, FileState>,
    /// The contents of those that are kept.
    pub contents: Vec<Arc<[u8]>>,
    /// How much that is of what was looked at.
    pub coverage: Coverage,
}

/// What was left out, told in a sentence of bounded length.
#[derive(Clone, Debug, Default)]
struct LeftOut {
    kinds: BTreeMap<&'static str, (usize, Vec<String>)>,
}

impl LeftOut {
    /// Examples that are named of each kind.
    const NAMED: usize = 5;

    fn add(&mut self, why: &'static str, path: &str) {
        let (count, examples) = self.kinds.entry(why).or_default();
        *count += 1;
        if examples.len() < Self::NAMED {
            examples.push(shown_path(path).into_owned());
        }
    }

    fn coverage(&self) -> Coverage {
        self.told().map_or(Coverage::Full, |left_out| Coverage::Partial { left_out })
    }

    /// The sentence; none where nothing was left out.
    fn told(&self) -> Option<String> {
        let told = self.kinds.iter().map(|(why, (count, examples))| {
            let more =
                if *count > examples.len() { format!(" and {} more", count - examples.len()) } else { String::new() };
            format!("{why}: {}{more}", examples.join(", "))
        });
        (!self.kinds.is_empty()).then(|| told.collect::<Vec<_>>().join("; "))
    }
}
