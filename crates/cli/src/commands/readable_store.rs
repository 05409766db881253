//! Opens the data folder for commands that display its contents.

use std::sync::Arc;

use windlass_setup::settings::PlaceSettings;
use windlass_setup::store;
use windlass_store::{SessionLog as _, SqliteStore};

use crate::error::CommandError;
use crate::streams::print_notice;

/// Opens the data folder, read-only where it can't be written. Warns that the output is incomplete if commits are
/// missing.
pub(super) fn open_to_show(place: &PlaceSettings) -> Result<Arc<SqliteStore>, CommandError> {
    let store = store::open_to_read(place)?;
    if let Some(loss) = store.loss() {
        print_notice(&format!("windlass: {loss}"));
    }
    Ok(store)
}
