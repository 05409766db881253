//! Runs the conformance suite against every store.

use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_store::{Durability, MemoryStore, SqliteOptions, SqliteStore, Store, conformance};

async fn check_sqlite(durability: Durability) {
    let dir = tempfile::tempdir().unwrap();
    let count = AtomicUsize::new(0);
    conformance::check_all(|| {
        let options = SqliteOptions { durability, ..SqliteOptions::default() };
        let folder = dir.path().join(count.fetch_add(1, Ordering::Relaxed).to_string());
        let open = || -> Box<dyn Store> { Box::new(SqliteStore::open(&folder, options.clone()).unwrap()) };
        [open(), open()]
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memory_store_conforms() {
    conformance::check_all(|| {
        let store = MemoryStore::new();
        [Box::new(store.clone()), Box::new(store)]
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_conforms_with_full_durability() {
    check_sqlite(Durability::Full).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_conforms_with_normal_durability() {
    check_sqlite(Durability::Normal).await;
}
