//! Opening the data folder.

use std::sync::Arc;

use windlass_store::{SqliteOptions, SqliteStore, Store, StoreError};

use crate::settings::{DurabilitySetting, PlaceSettings};
use crate::test_hooks;

/// Opens the data folder.
pub fn open(place: &PlaceSettings) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(SqliteStore::open(&place.data_dir.value, test_hooks::with_failpoints(sqlite_options(place)))?))
}

/// Opens the data folder; for reading only if it can't be written.
pub fn open_to_read(place: &PlaceSettings) -> Result<Arc<SqliteStore>, StoreError> {
    let folder = &place.data_dir.value;
    let opened = match SqliteStore::open(folder, test_hooks::with_failpoints(sqlite_options(place))) {
        Err(unwritable @ (StoreError::ReadOnly { .. } | StoreError::Full { .. })) => {
            match SqliteStore::open_read_only(folder, &std::env::temp_dir()) {
                // The folder does not exist, so there is nothing to read.
                Err(StoreError::Io { .. }) => Err(unwritable),
                opened => opened,
            }
        }
        opened => opened,
    };
    Ok(Arc::new(opened?))
}

fn sqlite_options(place: &PlaceSettings) -> SqliteOptions {
    let durability = match place.durability.value {
        DurabilitySetting::Full => windlass_store::Durability::Full,
        DurabilitySetting::Normal => windlass_store::Durability::Normal,
    };
    SqliteOptions { durability, ..SqliteOptions::default() }
}
