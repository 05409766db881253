//! The windows that servers turned out to have (M8): one that read only a part of a request has a smaller window than it
//! was believed to have. It is the budget of the turns that follow, so that they are shortened to fit.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_vocab::ModelName;

/// The windows that were found, by model.
pub type FoundWindows = Arc<BTreeMap<ModelName, FoundWindow>>;

/// A window that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundWindow {
    /// The most tokens that the server has read.
    pub window: u64,
    /// The window that the run was told of, if any: another one means that something was changed since.
    pub believed: Option<u64>,
}
