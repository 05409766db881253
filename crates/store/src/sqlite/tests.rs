//! Tests that need private access to the store.

use std::os::unix::fs::MetadataExt as _;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::oneshot;
use windlass_vocab::{SessionId, Timestamp};

use super::append::{AppendBatch, head};
use super::commit::Committer;
use super::folder::DataFolder;
use super::job::{Job, PendingJob};
use super::options::{AppendPoint, Durability, SqliteOptions};
use super::queue::CommitPatience;
use super::{SqliteStore, schema};
use crate::conformance::sample;
use crate::{AppendError, Batch, Entry, Head, Ownership, SealedBatch, SessionLog, StoreError, Writer, verify};

fn session(n: u128) -> SessionId {
    SessionId(uuid::Uuid::from_u128(n))
}

fn opening(n: u128, blob_size: usize) -> SealedBatch {
    let entries = vec![Entry::new(sample::opened("ada", &n.to_string()))];
    let blobs = if blob_size == 0 { vec![] } else { vec![vec![0; blob_size].into()] };
    let batch = Batch { at: Timestamp(0), entries, blobs, ..Batch::default() };
    Writer::new(session(n), Head::default(), 1).seal(batch).unwrap()
}

fn options(durability: Durability) -> SqliteOptions {
    SqliteOptions { durability, ..SqliteOptions::default() }
}

struct TestStore {
    committer: Committer,
    dir: tempfile::TempDir,
}

type JobAnswer = oneshot::Receiver<Result<(), AppendError>>;

impl TestStore {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder(dir.path().to_owned());
        let opened = schema::open(&folder, Durability::Normal).unwrap();
        Self { committer: Committer::new(&folder, opened, options(Durability::Normal)).unwrap(), dir }
    }

    /// Lets the database grow by this many pages and no more, like a disk that is nearly full.
    fn room(&self, pages: u32) {
        let connection = &self.committer.connection();
        let used: u32 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        connection.query_row(&format!("PRAGMA max_page_count = {}", used + pages), [], |_| Ok(())).unwrap();
    }

    fn commit(&mut self, group: impl IntoIterator<Item = SealedBatch>) -> Vec<Result<(), AppendError>> {
        let jobs = group.into_iter().map(|sealed| {
            let (caller, answer) = oneshot::channel();
            (Box::new(PendingJob::new(AppendBatch(sealed), caller)) as Box<dyn Job>, answer)
        });
        let (mut jobs, answers): (Vec<_>, Vec<JobAnswer>) = jobs.unzip();
        self.committer.commit(&mut jobs, CommitPatience::Wait).unwrap();
        jobs.into_iter().for_each(Job::answer);
        answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect()
    }
}

#[test]
fn what_does_not_fit_on_the_disk_harms_nobody_else_and_fits_when_there_is_room() {
    // proves J9
    let mut bench = TestStore::new();
    bench.room(20);
    let results = bench.commit([opening(1, 0), opening(2, 1_000_000), opening(3, 0)]);
    assert!(matches!(results[..], [Ok(()), Err(AppendError::Refused(StoreError::Full { .. })), Ok(())]), "{results:?}");
    assert!(matches!(bench.commit([opening(2, 1_000_000)])[..], [Err(AppendError::Refused(StoreError::Full { .. }))]));
    bench.room(1_000);
    assert_eq!(bench.commit([opening(2, 1_000_000), opening(4, 0)]), [Ok(()), Ok(())]);
}

#[test]
fn a_batch_behind_another_is_stored_when_their_group_fails() {
    // proves J9: every record that was reported as stored exists
    let mut bench = TestStore::new();
    bench.room(20);
    let mut writer = Writer::new(session(1), Head::default(), 1);
    let first = Batch { entries: vec![Entry::new(sample::opened("ada", "1"))], ..Batch::default() };
    let next = || Batch { entries: vec![Entry::new(sample::lease(1))], ..Batch::default() };
    let group = [first, next(), next()].map(|batch| writer.seal(batch).unwrap());
    let results = bench.commit(group.into_iter().chain([opening(2, 1_000_000)]));
    assert!(
        matches!(results[..], [Ok(()), Ok(()), Ok(()), Err(AppendError::Refused(StoreError::Full { .. }))]),
        "{results:?}"
    );
    let stored = head(bench.committer.connection(), session(1)).unwrap();
    assert_eq!(stored, writer.head);
}

#[test]
fn a_conflict_within_a_group_leaves_the_others_stored() {
    let mut bench = TestStore::new();
    let mut other_writer = opening(1, 0);
    other_writer.head.hash.0[0] ^= 1;
    let results = bench.commit([opening(1, 0), other_writer, opening(1, 0), opening(2, 0)]);
    assert_eq!(results, [Ok(()), Err(AppendError::Conflict), Ok(()), Ok(())]);
}

/// A store whose first commit blocks until it is released, and the calls that its hook got.
fn held_store(dir: &std::path::Path, durability: Durability) -> BlockedStore {
    let (reached, first_commit) = mpsc::channel();
    let (release, word) = mpsc::channel::<()>();
    let word = Mutex::new(word);
    let points = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&points);
    let hook = move |point, count| {
        seen.lock().unwrap().push((point, count));
        if (point, count) == (AppendPoint::Before, 1) {
            reached.send(()).unwrap();
            word.lock().unwrap().recv().unwrap();
        }
    };
    let options = SqliteOptions { on_append: Some(Arc::new(hook)), ..options(durability) };
    BlockedStore { store: Arc::new(SqliteStore::open(dir, options).unwrap()), first_commit, release, points }
}

struct BlockedStore {
    store: Arc<SqliteStore>,
    first_commit: mpsc::Receiver<()>,
    release: mpsc::Sender<()>,
    points: Arc<Mutex<Vec<(AppendPoint, u64)>>>,
}

#[tokio::test]
async fn what_waits_while_a_commit_runs_is_committed_together() {
    let dir = tempfile::tempdir().unwrap();
    let held = held_store(dir.path(), Durability::Full);
    let _owned = (held.store.claim(session(1)).await.unwrap(), held.store.claim(session(2)).await.unwrap());
    let append = |n| {
        let store = Arc::clone(&held.store);
        tokio::spawn(async move { store.append(opening(n, 0)).await })
    };
    let first = append(1);
    tokio::task::yield_now().await;
    held.first_commit.recv().unwrap();
    let rest: Vec<_> = (2..=9).map(append).collect();
    // Every task runs up to its first wait, which is after handing its batch in.
    tokio::task::yield_now().await;
    held.release.send(()).unwrap();
    first.await.unwrap().unwrap();
    for append in rest {
        append.await.unwrap().unwrap();
    }
    let side = |point, counts: std::ops::RangeInclusive<u64>| counts.map(move |n| (point, n));
    let expected: Vec<_> = side(AppendPoint::Before, 1..=1)
        .chain(side(AppendPoint::After, 1..=1))
        .chain(side(AppendPoint::Before, 2..=9))
        .chain(side(AppendPoint::After, 2..=9))
        .collect();
    assert_eq!(*held.points.lock().unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_does_not_wait_for_writing() {
    for durability in [Durability::Full, Durability::Normal] {
        let dir = tempfile::tempdir().unwrap();
        let held = held_store(dir.path(), durability);
        let store = Arc::clone(&held.store);
        let append = tokio::spawn(async move { store.append(opening(1, 0)).await });
        held.first_commit.recv().unwrap();
        assert_eq!(held.store.read(session(1), 0).await.unwrap(), []);
        held.release.send(()).unwrap();
        append.await.unwrap().unwrap();
        assert_eq!(held.store.read(session(1), 0).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn writing_does_not_wait_for_reading() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path(), options(Durability::Full)).unwrap();
    let (reading, begun) = oneshot::channel();
    let (release, word) = mpsc::channel::<()>();
    let read = store.readers.with(move |reader| {
        let before = reader.head(session(1))?;
        reading.send(()).unwrap();
        word.recv().unwrap();
        Ok((before, reader.head(session(1))?))
    });
    let read = tokio::spawn(read);
    begun.await.unwrap();
    store.append(opening(1, 0)).await.unwrap();
    release.send(()).unwrap();
    // The whole read uses one snapshot.
    assert_eq!(read.await.unwrap().unwrap(), (Head::default(), Head::default()));
    assert_eq!(store.head(session(1)).await.unwrap().seq, 1);
}

#[tokio::test]
async fn a_long_life_moves_its_log_into_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path(), options(Durability::Normal)).unwrap();
    let mut writer = Writer::new(session(1), Head::default(), 1);
    let first = Batch { entries: vec![Entry::new(sample::opened("ada", "long"))], ..Batch::default() };
    store.append(writer.seal(first).unwrap()).await.unwrap();
    for n in 0..40u8 {
        let batch = Batch {
            entries: vec![Entry::new(sample::lease(1))],
            blobs: vec![vec![n; 1024 * 1024].into()],
            ..Batch::default()
        };
        store.append(writer.seal(batch).unwrap()).await.unwrap();
    }
    // Forty megabytes were written, and the log does not grow without limit.
    assert!(std::fs::metadata(dir.path().join("windlass.db")).unwrap().len() > 20 * 1024 * 1024);
    verify(&store, session(1)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_that_can_be_removed_lets_two_write_at_once() {
    // proves J5, J9: every record that was reported as stored exists
    let dir = tempfile::tempdir().unwrap();
    let held = held_store(dir.path(), Durability::Full);
    let _owned = held.store.claim(session(9)).await.unwrap();
    let store = Arc::clone(&held.store);
    let first = tokio::spawn(async move { store.append(opening(1, 0)).await });
    held.first_commit.recv().unwrap();
    // The store is inside a commit. Remove every file that is not part of the database.
    for entry in std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
        if !entry.file_name().to_str().unwrap().starts_with("windlass.db") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    let path = dir.path().to_owned();
    let second = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let other = SqliteStore::open(&path, options(Durability::Full)).unwrap();
        runtime.block_on(async { other.append(opening(2, 0)).await })
    });
    wait_until_queued(dir.path(), || assert!(!second.is_finished(), "it writes beside another"));
    held.release.send(()).unwrap();
    first.await.unwrap().unwrap();
    second.join().unwrap().unwrap();
    for n in 1..=2 {
        assert_eq!(verify(held.store.as_ref(), session(n)).await.unwrap().records, 1);
    }
}

/// Waits until a process waits for the lock on the folder `dir`; meanwhile `check` must hold. If the system does not
/// list waiting processes, `check` must hold for a fixed time.
fn wait_until_queued(dir: &std::path::Path, check: impl Fn()) {
    let number = format!(":{} ", std::fs::metadata(dir).unwrap().ino());
    let listed = std::path::Path::new("/proc/locks").exists();
    let rounds = if listed { 4_000 } else { 40 };
    for _ in 0..rounds {
        check();
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        if locks.lines().any(|line| line.contains("-> FLOCK") && line.contains(&number)) {
            return check();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!listed, "nobody came to the lock");
}

#[test]
fn a_commit_waits_for_another_program_that_holds_sqlites_own_lock() {
    // proves J5: two processes never write at once, and neither fails because the other writes
    let mut bench = TestStore::new();
    let blocker = rusqlite::Connection::open(bench.dir.path().join("windlass.db")).unwrap();
    let mut writer = Writer::new(session(1), Head::default(), 1);
    // The first record changes the session's row too, the second the journal alone.
    for record in [sample::opened("ada", "1"), sample::lease(1)] {
        let batch = Batch { entries: vec![Entry::new(record)], ..Batch::default() };
        let sealed = writer.seal(batch).unwrap();
        blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (beginning, begun) = mpsc::channel();
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                beginning.send(()).unwrap();
                bench.commit([sealed])
            });
            begun.recv().unwrap();
            // SQLite polls for this lock, so the waiting can't be observed.
            for _ in 0..20 {
                std::thread::sleep(Duration::from_millis(5));
                assert!(!writing.is_finished(), "it did not wait");
            }
            blocker.execute_batch("COMMIT").unwrap();
            assert_eq!(writing.join().unwrap(), [Ok(())]);
        });
    }
}
