//! A disk that is really full, and one that is really read-only.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use windlass_store::conformance::sample;
use windlass_store::{
    AppendError, Batch, Durability, Entry, Head, Ownership, SessionLog, SqliteOptions, SqliteStore, StoreError, Writer,
    export, verify,
};
use windlass_testkit::small_disk;
use windlass_vocab::SessionId;

/// Larger than blobs in the database can be, so that it goes into a file.
const LARGE: usize = 9 * 1024 * 1024;

fn session(n: u128) -> SessionId {
    SessionId(uuid::Uuid::from_u128(n))
}

fn open(dir: &Path, durability: Durability) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(dir, SqliteOptions { durability, ..SqliteOptions::default() })
}

fn filled(size: usize) -> Batch {
    let blobs: Vec<Arc<[u8]>> = vec![vec![size as u8; size].into()];
    Batch { entries: vec![Entry::new(sample::lease(1))], blobs, ..Batch::default() }
}

#[test]
fn a_full_disk_loses_nothing_and_takes_up_again() {
    // proves J9
    let test = "a_full_disk_loses_nothing_and_takes_up_again";
    let Some(mount) = small_disk(4, module_path!(), test) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for durability in [Durability::Full, Durability::Normal] {
        runtime.block_on(fill_disk(&mount, durability));
    }
}

async fn fill_disk(mount: &Path, durability: Durability) {
    let dir = mount.join(format!("{durability:?}"));
    let store = open(&dir, durability).unwrap();
    let mut writer = Writer::new(session(1), Head::default(), 1);
    let opened = Batch { entries: vec![Entry::new(sample::opened("ada", "notes"))], ..Batch::default() };
    store.append(writer.seal(opened).unwrap()).await.unwrap();
    let ballast = mount.join("ballast");
    std::fs::write(&ballast, vec![0; 1024 * 1024]).unwrap();
    let refused = loop {
        let sealed = writer.seal(filled(50_000)).unwrap();
        match store.append(sealed.clone()).await {
            Ok(()) => {}
            Err(AppendError::Refused(StoreError::Full { .. })) => break sealed,
            Err(other) => panic!("{other:?}"),
        }
    };
    let too_large_for_the_database = Writer::new(session(1), refused.expected, 3).seal(filled(LARGE)).unwrap();
    assert!(matches!(
        store.append(too_large_for_the_database).await,
        Err(AppendError::Refused(StoreError::Full { .. }))
    ));
    assert_eq!(store.head(session(1)).await.unwrap(), refused.expected);
    verify(&store, session(1)).await.unwrap();
    std::fs::remove_file(&ballast).unwrap();
    store.append(refused.clone()).await.unwrap();
    let mut writer = Writer::new(session(1), refused.head, 2);
    store.append(writer.seal(filled(100)).unwrap()).await.unwrap();
    drop(store);
    let store = open(&dir, durability).unwrap();
    assert_eq!((store.head(session(1)).await, store.loss()), (Ok(writer.head), None));
    verify(&store, session(1)).await.unwrap();
    drop(store);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_disk_that_can_not_be_written_is_said_to_be_so() {
    // proves J9
    let Some(mount) = small_disk(4, module_path!(), "a_disk_that_can_not_be_written_is_said_to_be_so") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let full = mount.join("used");
    let store = open(&full, Durability::Full).unwrap();
    let mut writer = Writer::new(session(1), Head::default(), 1);
    let opened = Batch { entries: vec![Entry::new(sample::opened("ada", "notes"))], ..Batch::default() };
    runtime.block_on(store.append(writer.seal(opened).unwrap())).unwrap();
    // As a killed process leaves it: with a log, and with or without SQLite's shared memory.
    let killed = mount.join("killed");
    let without = mount.join("without");
    for (to, names) in [(&killed, &FILES[..]), (&without, &FILES[..3])] {
        std::fs::create_dir(to).unwrap();
        for name in names {
            std::fs::copy(full.join(name), to.join(name)).unwrap();
        }
    }
    let old = mount.join("old");
    std::fs::create_dir(&old).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/folders/v2-spool");
    for name in ["windlass.db", "windlass.db-wal", "spool", "claims", "write.lock"] {
        std::fs::copy(fixture.join(name), old.join(name)).unwrap();
    }
    drop(store);
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&mount).status().unwrap();
    assert!(remounted.success());
    for dir in [full.clone(), mount.join("new")] {
        let error = open(&dir, Durability::Full).unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        assert!(error.to_string().contains("choose another data folder"));
    }
    let scratch = tempfile::tempdir().unwrap();
    for dir in [&full, &killed, &without] {
        runtime.block_on(read_what_is_there(dir, scratch.path(), &writer));
    }
    let store = SqliteStore::open_read_only(&old, scratch.path()).unwrap();
    let second = "0198f3a0-0000-7000-8000-000000000002".parse().unwrap();
    assert_eq!(runtime.block_on(verify(&store, second)).unwrap().records, 6);
    drop(store);
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0, "copies are removed");
}

const FILES: [&str; 4] = ["windlass.db", "windlass.db-wal", "commits", "windlass.db-shm"];

/// All reads work, and all writes fail.
async fn read_what_is_there(dir: &Path, scratch: &Path, writer: &Writer) {
    let store = SqliteStore::open_read_only(dir, scratch).unwrap();
    assert_eq!((store.head(session(1)).await, store.loss()), (Ok(writer.head), None), "{dir:?}");
    assert_eq!(store.read(session(1), 0).await.unwrap().len(), 1);
    assert_eq!(store.sessions("ada").await.unwrap().len(), 1);
    assert!(!store.is_claimed(session(1)).await.unwrap());
    verify(&store, session(1)).await.unwrap();
    export(&store, session(1), &mut Vec::new()).await.unwrap();
    let next = writer.clone().seal(filled(10)).unwrap();
    let refused = store.append(next).await;
    assert!(matches!(refused, Err(AppendError::Refused(StoreError::ReadOnly { .. }))), "{refused:?}");
    assert!(matches!(store.claim(session(1)).await, Err(StoreError::ReadOnly { .. })));
}
