//! A store that lost data it had reported as stored reports the loss, and continues only after the loss is accepted.

use std::fs;
use std::path::Path;

use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::sample::Index;
use windlass_store::conformance::sample;
use windlass_store::{
    AppendError, Batch, Durability, Entry, Head, Inbox, Ownership, SessionLog, SqliteOptions, SqliteStore, StoreError,
    Writer, verify,
};
use windlass_vocab::{Record, SessionId};

const DATABASE: &str = "windlass.db";
const LOG: &str = "windlass.db-wal";
const COUNT: &str = "commits";

fn session(n: u128) -> SessionId {
    SessionId(uuid::Uuid::from_u128(n))
}

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(dir, SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() })
}

fn batch(record: Record) -> Batch {
    Batch { entries: vec![Entry::new(record)], ..Batch::default() }
}

/// Copies the files of a folder as a killed process leaves them.
fn copy(from: &Path, names: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in names.iter().filter(|name| from.join(name).exists()) {
        fs::copy(from.join(name), dir.path().join(name)).unwrap();
    }
    dir
}

const ALL: [&str; 3] = [DATABASE, LOG, COUNT];

/// A folder with an open store, and the writer of its session.
struct Written {
    dir: tempfile::TempDir,
    store: SqliteStore,
    writer: Writer,
}

impl Written {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).unwrap();
        let mut writer = Writer::new(session(1), Head::default(), 1);
        store.append(writer.seal(batch(sample::opened("ada", "notes"))).unwrap()).await.unwrap();
        let mut written = Self { dir, store, writer };
        written.append(4).await;
        written
    }

    async fn append(&mut self, count: u32) {
        for n in 0..count {
            // Alternate between a batch that changes only the journal and one that changes more.
            let record = if n % 2 == 0 { sample::lease(1) } else { sample::accepted(&format!("m{n}"), "hi") };
            self.store.append(self.writer.seal(batch(record)).unwrap()).await.unwrap();
        }
    }

    /// Moves the log into the database.
    fn checkpoint(&self) {
        let connection = rusqlite::Connection::open(self.dir.path().join(DATABASE)).unwrap();
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    }
}

/// The state that opening a folder reports.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Whole,
    Missing(Option<u64>),
    Refused,
}

/// Returns whether the folder is complete, reports a loss or is refused; panics if it lost data without an error.
async fn said(dir: &Path, head: Head) -> Said {
    let store = match open(dir) {
        Ok(store) => store,
        Err(StoreError::Damaged { .. } | StoreError::Foreign { .. }) => return Said::Refused,
        Err(other) => panic!("{other:?}"),
    };
    let found = store.head(session(1)).await;
    let mut writer = Writer::new(session(1), found.clone().unwrap_or_default(), 9);
    let next = writer.seal(batch(sample::lease(2))).unwrap();
    let Some(loss) = store.loss() else {
        let read = store.read(session(1), 0).await;
        let told = |error: &StoreError| matches!(error, StoreError::Damaged { .. } | StoreError::Broken { .. });
        if found.as_ref().is_err_and(told) || read.as_ref().is_err_and(told) {
            return Said::Refused;
        }
        assert_eq!(found, Ok(head), "it goes on without a word");
        verify(&store, session(1)).await.unwrap();
        return Said::Whole;
    };
    // The folder can be read but not written.
    store.sessions("ada").await.unwrap();
    let lost = StoreError::Lost(loss.clone());
    assert_eq!(store.append(next).await, Err(AppendError::Refused(lost.clone())));
    assert_eq!(store.claim(session(1)).await.err(), Some(lost.clone()));
    assert_eq!(store.put(session(1), sample::waiting("m", "hi")).await, Err(lost.clone()));
    assert_eq!(store.remove(session(1)).await, Err(lost));
    Said::Missing(loss.missing)
}

#[tokio::test]
async fn a_log_that_was_removed_or_shortened_is_told() {
    // proves J9
    let mut written = Written::new().await;
    written.checkpoint();
    let before = written.writer.head;
    written.append(6).await;
    let whole = copy(written.dir.path(), &ALL);
    assert_eq!(said(copy(whole.path(), &ALL).path(), written.writer.head).await, Said::Whole);

    let dir = copy(whole.path(), &[DATABASE, COUNT]);
    assert_eq!(said(dir.path(), written.writer.head).await, Said::Missing(Some(6)));
    let store = open(dir.path()).unwrap();
    assert_eq!(store.head(session(1)).await.unwrap(), before, "what is left can be read");
    let told = store.loss().unwrap().to_string();
    assert!(told.starts_with("6 commits are missing: the database is older than"), "{told}");

    let length = fs::metadata(whole.path().join(LOG)).unwrap().len();
    let mut told = 0;
    for cut in (0..length).step_by(1_999) {
        let dir = copy(whole.path(), &ALL);
        fs::File::options().write(true).open(dir.path().join(LOG)).unwrap().set_len(cut).unwrap();
        told += u32::from(said(dir.path(), written.writer.head).await != Said::Whole);
    }
    assert!(told > 5, "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bit_that_changed_in_the_log_is_harmless_or_told(at: Index, bit in 0..8u8, checkpointed: bool) {
        // proves J9
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut written = Written::new().await;
            if checkpointed {
                written.checkpoint();
            }
            written.append(6).await;
            let dir = copy(written.dir.path(), &ALL);
            let mut log = fs::read(dir.path().join(LOG)).unwrap();
            let at = at.index(log.len());
            log[at] ^= 1 << bit;
            fs::write(dir.path().join(LOG), log).unwrap();
            said(dir.path(), written.writer.head).await;
        });
    }

    #[test]
    fn files_of_different_moments_are_whole_or_told(
        database in any::<Index>(), log in any::<Index>(), checkpoints in any::<[bool; 4]>()
    ) {
        // proves J9
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut written = Written::new().await;
            let mut moments = vec![copy(written.dir.path(), &ALL)];
            for checkpoint in checkpoints {
                written.append(3).await;
                if checkpoint {
                    written.checkpoint();
                }
                moments.push(copy(written.dir.path(), &ALL));
            }
            let (database, log) = (database.get(&moments), log.get(&moments));
            let dir = copy(written.dir.path(), &[COUNT]);
            fs::copy(database.path().join(DATABASE), dir.path().join(DATABASE)).unwrap();
            fs::copy(log.path().join(LOG), dir.path().join(LOG)).unwrap();
            said(dir.path(), written.writer.head).await;
        });
    }
}

#[tokio::test]
async fn whoever_accepts_a_loss_goes_on_from_what_is_there() {
    // proves J9
    let mut written = Written::new().await;
    written.checkpoint();
    written.append(3).await;
    let dir = copy(written.dir.path(), &[DATABASE, COUNT]);
    let store = open(dir.path()).unwrap();
    let loss = store.loss().unwrap();
    assert_eq!((loss.missing, store.accept_loss().await.unwrap()), (Some(3), Some(loss)));
    assert_eq!((store.loss(), store.accept_loss().await.unwrap()), (None, None));
    let _lease = store.claim(session(1)).await.unwrap();
    let mut writer = Writer::new(session(1), store.head(session(1)).await.unwrap(), 2);
    store.append(writer.seal(batch(sample::lease(2))).unwrap()).await.unwrap();
    drop((_lease, store));
    assert_eq!(said(dir.path(), writer.head).await, Said::Whole);
}

#[tokio::test]
async fn a_database_of_another_folder_is_not_taken_for_this_ones() {
    // proves J9
    let (one, other) = (Written::new().await, Written::new().await);
    one.checkpoint();
    other.checkpoint();
    let dir = copy(one.dir.path(), &[COUNT]);
    fs::copy(other.dir.path().join(DATABASE), dir.path().join(DATABASE)).unwrap();
    assert_eq!(said(dir.path(), one.writer.head).await, Said::Missing(None));
}

#[tokio::test]
async fn an_empty_database_beside_claims_or_contents_is_told() {
    // proves J9
    let empty = tempfile::tempdir().unwrap();
    drop(open(empty.path()).unwrap());
    // Earlier versions had one file of claims; systems other than Linux have a lock file per session.
    for name in ["claims", "locks/0198f3a0-0000-7000-8000-000000000001", "blobs/ab/cdef"] {
        let dir = copy(empty.path(), &[DATABASE]);
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "used").unwrap();
        assert_eq!(said(dir.path(), Head::default()).await, Said::Missing(None), "{name}");
        let store = open(dir.path()).unwrap();
        assert!(store.loss().unwrap().to_string().contains("older than the claims or contents"));
        store.accept_loss().await.unwrap();
        drop(store);
        assert_eq!(open(dir.path()).unwrap().loss(), None);
    }
}

#[tokio::test]
async fn removals_and_messages_are_counted_too() {
    // proves J9: a decreasing count would hide a loss
    let mut written = Written::new().await;
    written.checkpoint();
    let store = &written.store;
    let mut other = Writer::new(session(2), Head::default(), 2);
    for record in [sample::opened("ada", "other"), sample::lease(1), sample::lease(1)] {
        store.append(other.seal(batch(record)).unwrap()).await.unwrap();
    }
    store.put(session(2), sample::waiting("m1", "hi")).await.unwrap();
    store.put(session(2), sample::waiting("m1", "hi")).await.unwrap();
    store.remove(session(2)).await.unwrap();
    store.put(session(3), sample::waiting("m2", "hi")).await.unwrap();
    assert_eq!(store.drop_waiting(session(3)).await.unwrap(), 1);
    written.append(1).await;
    let dir = copy(written.dir.path(), &[DATABASE, COUNT]);
    assert_eq!(said(dir.path(), written.writer.head).await, Said::Missing(Some(8)));
    assert_eq!(said(copy(written.dir.path(), &ALL).path(), written.writer.head).await, Said::Whole);
}

#[tokio::test]
async fn a_count_that_is_missing_or_damaged_is_made_again() {
    let mut written = Written::new().await;
    let as_it_was = fs::read(written.dir.path().join(COUNT)).unwrap();
    for content in [None, Some(Vec::new()), Some(vec![0; 40]), Some(b"Dear diary".to_vec())] {
        let dir = copy(written.dir.path(), &[DATABASE, LOG]);
        if let Some(content) = content {
            fs::write(dir.path().join(COUNT), content).unwrap();
        }
        assert_eq!(said(dir.path(), written.writer.head).await, Said::Whole);
        assert_eq!(fs::read(dir.path().join(COUNT)).unwrap(), as_it_was);
    }
    // Also while a process is running.
    fs::remove_file(written.dir.path().join(COUNT)).unwrap();
    written.append(1).await;
    let count = fs::read(written.dir.path().join(COUNT)).unwrap();
    assert!(count.len() == as_it_was.len() && count != as_it_was);
}

#[tokio::test]
async fn a_log_without_its_database_is_not_mixed_into_a_new_one() {
    // proves J9
    let written = Written::new().await;
    for names in [&[LOG][..], &[LOG, COUNT], &[COUNT]] {
        let dir = copy(written.dir.path(), names);
        let before = fs::read(dir.path().join(LOG)).ok();
        let error = open(dir.path()).unwrap_err();
        let told = if before.is_some() { "and its log" } else { "has lost its contents" };
        assert!(matches!(&error, StoreError::Damaged { what } if what.contains(told)), "{names:?}: {error}");
        assert_eq!(fs::read(dir.path().join(LOG)).ok(), before);
        assert!(!dir.path().join(DATABASE).exists());
        // An empty file at the database path is no database either.
        fs::write(dir.path().join(DATABASE), "").unwrap();
        assert!(matches!(open(dir.path()), Err(StoreError::Damaged { .. })), "{names:?}");
    }
}

#[tokio::test]
async fn a_log_that_was_removed_under_a_process_takes_nothing_more() {
    // proves J9: an append that returned Ok can be read again
    for name in [LOG, "windlass.db-shm"] {
        let mut written = Written::new().await;
        fs::remove_file(written.dir.path().join(name)).unwrap();
        let refused = written.store.append(written.writer.seal(batch(sample::lease(1))).unwrap()).await;
        assert!(matches!(refused, Err(AppendError::Refused(StoreError::Gone { .. }))), "{name}: {refused:?}");
    }
}
