//! Options for opening a database.

use std::fmt;
#[cfg(debug_assertions)]
use std::sync::Arc;

/// When a commit counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When it is synced to disk: survives a power loss.
    #[default]
    Full,
    /// When the operating system has it: survives the death of the process, not of the machine.
    Normal,
}

/// A moment around a commit.
#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendPoint {
    /// Everything is written, nothing is committed.
    Before,
    /// The commit is done, but no caller has its result yet.
    After,
}

/// Called around every append with the append's number in this process, from 1.
#[cfg(debug_assertions)]
pub type OnAppend = Arc<dyn Fn(AppendPoint, u64) + Send + Sync>;

/// Options for opening the database.
#[derive(Clone)]
pub struct SqliteOptions {
    /// When a commit counts as done.
    pub durability: Durability,
    /// Lets a test stop the process around a commit.
    #[cfg(debug_assertions)]
    pub on_append: Option<OnAppend>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            #[cfg(debug_assertions)]
            on_append: None,
        }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions").field("durability", &self.durability).finish_non_exhaustive()
    }
}
