//! Damaged, missing and foreign files in a data folder.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_store::conformance::sample;
use windlass_store::{
    AppendError, Batch, Blobs, CountingRun, Entry, ExportError, Fork, ForkError, ForkTarget, Head, Inbox, Ownership,
    Prefix, PutOutcome, SessionLog, SpendingCounter, SqliteOptions, SqliteStore, StoreError, VerifyError, Writer,
    export, hash_of, verify, whole_prefix,
};
use windlass_vocab::{
    AttemptFailed, Failure, FailureClass, Hash, ModelRole, NextAttempt, Record, RunId, SessionId, Timestamp, Usage,
};

const LARGE: usize = 9 * 1024 * 1024;

fn session() -> SessionId {
    "0198f3a0-0000-7000-8000-000000000001".parse().unwrap()
}

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(dir, SqliteOptions::default())
}

fn batch(record: Record) -> Batch {
    Batch { at: Timestamp(0), entries: vec![Entry::new(record)], ..Batch::default() }
}

/// A closed folder with a session that has a record of every kind.
async fn used_folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let _lease = store.claim(session()).await.unwrap();
    let mut writer = Writer::new(session(), Head::default(), 1);
    for batch in sample::every_kind(session()) {
        store.append(writer.seal(batch).unwrap()).await.unwrap();
    }
    dir
}

/// Path of the file of a large blob.
fn large_content(dir: &Path, hash: Hash) -> PathBuf {
    let digits = hash.to_string();
    dir.join("blobs").join(&digits[..2]).join(&digits[2..])
}

/// Changes the database without the store's knowledge.
fn tamper(dir: &Path, sql: &str) {
    rusqlite::Connection::open(dir.join("windlass.db")).unwrap().execute_batch(sql).unwrap();
}

#[tokio::test]
async fn what_was_stored_is_there_after_closing() {
    let dir = used_folder().await;
    let store = open(dir.path()).unwrap();
    assert_eq!(store.read(session(), 0).await.unwrap().last().unwrap().record, sample::unknown());
    assert_eq!(store.put(session(), sample::waiting("m1", "again")).await.unwrap(), PutOutcome::AlreadyThere);
    verify(&store, session()).await.unwrap();
}

#[tokio::test]
async fn two_handles_on_one_session_fence_each_other() {
    // proves J5
    let dir = used_folder().await;
    let (old, new) = (open(dir.path()).unwrap(), open(dir.path()).unwrap());
    let head = old.head(session()).await.unwrap();
    let (mut stale, mut fresh) = (Writer::new(session(), head, 2), Writer::new(session(), head, 3));
    let lease = old.claim(session()).await.unwrap();
    let busy = new.claim(session()).await.unwrap_err();
    let said = format!("the session is in use by process {}; wait until it is done, or stop it", std::process::id());
    assert_eq!((matches!(busy, StoreError::Busy { .. }), busy.to_string()), (true, said));
    drop(lease);
    let _lease = new.claim(session()).await.unwrap();
    new.append(fresh.seal(batch(sample::lease(3))).unwrap()).await.unwrap();
    let late = stale.seal(batch(sample::accepted("m2", "late"))).unwrap();
    assert_eq!(old.append(late).await, Err(AppendError::Conflict));
    new.append(fresh.seal(batch(sample::accepted("m2", "in time"))).unwrap()).await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn sessions_are_owned_without_a_file_for_each() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let files = || fs::read_dir(dir.path()).unwrap().count();
    let before = files();
    for number in 0..100 {
        store.claim(SessionId(uuid::Uuid::from_u128(number))).await.unwrap();
    }
    assert_eq!(files(), before);
}

#[tokio::test]
async fn a_prompt_of_many_megabytes_lives_in_a_file_and_goes_with_its_session() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let mut writer = Writer::new(session(), Head::default(), 1);
    store.append(writer.seal(batch(sample::opened("ada", "notes"))).unwrap()).await.unwrap();
    let sealed = writer.seal(batch(sample::accepted("m1", &"y".repeat(LARGE)))).unwrap();
    store.append(sealed.clone()).await.unwrap();
    assert!(store.read(session(), 1).await.unwrap()[0] == *sealed.envelopes[0]);
    let file = large_content(dir.path(), sealed.blobs[0].0);
    assert!(fs::metadata(&file).unwrap().len() > LARGE as u64);

    fs::rename(&file, file.with_extension("gone")).unwrap();
    assert!(matches!(store.read(session(), 0).await, Err(StoreError::Broken { seq: 2, .. })));
    assert!(matches!(verify(&store, session()).await, Err(VerifyError::Break(broken)) if broken.seq == 2));
    fs::write(&file, "something else").unwrap();
    assert!(matches!(store.read(session(), 0).await, Err(StoreError::Broken { seq: 2, .. })));
    assert!(matches!(store.blob(sealed.blobs[0].0).await, Err(StoreError::Damaged { .. })));
    assert!(matches!(verify(&store, session()).await, Err(VerifyError::Break(broken)) if broken.seq == 2));
    fs::rename(file.with_extension("gone"), &file).unwrap();
    verify(&store, session()).await.unwrap();

    store.remove(session()).await.unwrap();
    assert!(!file.exists());
}

#[tokio::test]
async fn a_changed_journal_is_found_out() {
    // proves J11
    for (sql, seq) in [
        ("UPDATE batches SET bytes = CAST(replace(CAST(bytes AS TEXT), 'Tidy', 'Burn') AS BLOB) WHERE seq = 3", 3),
        ("UPDATE batches SET bytes = x'ff0a' WHERE seq = 3", 3),
        ("DELETE FROM batches WHERE seq = 7", 7),
        ("UPDATE batches SET seq = 100 WHERE seq = 7", 7),
        ("UPDATE batches SET hash = zeroblob(32) WHERE seq = 1", 1),
        ("UPDATE batches SET bytes = x''  WHERE seq = 7", 7),
    ] {
        let dir = used_folder().await;
        tamper(dir.path(), sql);
        let store = open(dir.path()).unwrap();
        let error = verify(&store, session()).await.unwrap_err();
        assert!(matches!(&error, VerifyError::Break(broken) if broken.seq == seq), "{sql}: {error}");
        // Every use of the journal fails: reading it all, reading its end, exporting, forking.
        let broken = |error: &StoreError| matches!(error, StoreError::Broken { seq: found, .. } if *found == seq);
        assert!(broken(&store.read(session(), 0).await.unwrap_err()), "{sql}");
        let mut out = Vec::new();
        let exported = export(&store, session(), &mut out).await;
        assert!(matches!(exported, Err(ExportError::Store(error)) if broken(&error)) && out.is_empty(), "{sql}");
        let branch = ForkTarget {
            session: SessionId(uuid::Uuid::nil()),
            key: "fork".into(),
            version: "1".into(),
            at: Timestamp(0),
            nonce: 1,
        };
        let forked = Fork::begin(&store, session(), None, branch.clone()).await;
        assert!(matches!(forked, Err(ForkError::Store(error)) if broken(&error)), "{sql}");
        // Only the part before the break can be forked.
        let Prefix { whole, broken } = whole_prefix(&store, session()).await.unwrap();
        assert_eq!((whole.records < seq, broken.map(|at| at.seq)), (true, Some(seq)), "{sql}");
        if whole.records > 0 {
            let saved = Fork::begin(&store, session(), Some(whole.records), branch).await.unwrap();
            assert_eq!(saved.records().count() as u64, whole.records);
        }
    }
}

#[tokio::test]
async fn an_unreadable_record_is_an_error_that_names_it() {
    // proves J9
    let dir = used_folder().await;
    tamper(dir.path(), "UPDATE batches SET bytes = x'ff0a' WHERE seq = 3");
    let error = open(dir.path()).unwrap().read(session(), 0).await.unwrap_err();
    assert!(matches!(&error, StoreError::Broken { seq: 3, .. }), "{error}");
}

// proves M7: a count costs the new records, and what was counted stays so when the old ones are damaged
#[tokio::test]
async fn of_a_journal_that_has_grown_only_the_new_records_are_counted() {
    let failed = |input: u64| {
        let usage = Some(Usage { input, calls: 1, ..Usage::default() });
        let failure = Failure::new(FailureClass::Transient, "no");
        let (model, next, role) = ("small".into(), NextAttempt::Whole, ModelRole::Turn);
        Record::from(AttemptFailed { attempt: 1, model, failure, next, usage, role })
    };
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let _lease = store.claim(session()).await.unwrap();
    let mut writer = Writer::new(session(), Head::default(), 1);
    for record in [sample::opened("ada", "one"), sample::lease(1), sample::run_started(1), failed(10)] {
        store.append(writer.seal(batch(record)).unwrap()).await.unwrap();
    }
    let counter = SpendingCounter::default();
    let elsewhere = "0198f3a0-0000-7000-8000-000000000002".parse().unwrap();
    let counting = CountingRun { session: elsewhere, run: RunId(1), owner: "ada".into(), agent: "default".into() };
    let count = || counter.count(&store, &counting, Timestamp(0));
    assert_eq!(count().await.unwrap().day.tokens, 10);
    tamper(dir.path(), "UPDATE batches SET bytes = x'ff0a' WHERE seq = 4");
    store.append(writer.seal(batch(failed(100))).unwrap()).await.unwrap();
    let found = count().await.unwrap();
    assert_eq!((found.day.tokens, found.agent.tokens), (110, 110), "the agent is that of the run's beginning");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let dir = used_folder().await;
    tamper(dir.path(), "PRAGMA user_version = 7");
    assert_eq!(open(dir.path()).unwrap_err(), StoreError::Newer { found: 7 });
}

#[tokio::test]
async fn a_record_of_a_newer_version_is_shown_as_far_as_its_form_is_ours() {
    // proves J7
    /// Rewrites the batch at record 3, the last, as a later version would have stored it.
    fn write_newer(dir: &Path, form: impl Fn(String) -> String) {
        let connection = rusqlite::Connection::open(dir.join("windlass.db")).unwrap();
        let sql = "SELECT CAST(bytes AS TEXT) FROM batches WHERE seq = 3";
        let text: String = connection.query_row(sql, [], |row| row.get(0)).unwrap();
        let newer = form(text.replace(r#""v":1"#, r#""v":9"#)).into_bytes();
        connection.execute_batch("DELETE FROM batches WHERE seq > 3").unwrap();
        let set = "UPDATE batches SET bytes = ?1, hash = ?2 WHERE seq = 3";
        connection.execute(set, (&newer, hash_of(&newer).0)).unwrap();
    }
    let dir = used_folder().await;
    let before = open(dir.path()).unwrap().read(session(), 2).await.unwrap();
    write_newer(dir.path(), |text| text);
    let after = open(dir.path()).unwrap().read(session(), 2).await.unwrap();
    assert!(matches!(after[0].record, Record::Unknown(_)), "{:?}", after[0]);
    assert_eq!(after[0].record.kind(), before[0].record.kind());
    let dir = used_folder().await;
    write_newer(dir.path(), |text| text.replace(r#""kind""#, r#""sort""#));
    assert_eq!(open(dir.path()).unwrap().read(session(), 0).await, Err(StoreError::Newer { found: 9 }));
}

#[test]
fn a_file_of_somebody_else_is_left_alone() {
    // proves J9
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("windlass.db");
    tamper(dir.path(), "CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('pie')");
    let before = fs::read(&path).unwrap();
    assert_eq!(open(dir.path()).unwrap_err(), StoreError::Foreign { place: path.display().to_string() });
    assert_eq!(fs::read(&path).unwrap(), before);
    fs::write(&path, "Dear diary, ".repeat(1_000)).unwrap();
    assert_eq!(open(dir.path()).unwrap_err(), StoreError::Foreign { place: path.display().to_string() });
}

#[tokio::test]
async fn a_session_whose_contents_are_gone_is_not_read() {
    // proves J9, J11
    for (content, damage) in [
        (vec![3; LARGE], "DELETE FROM blobs"),
        (vec![3; 40_000], "DELETE FROM blobs"),
        (vec![3; LARGE], "remove the file"),
        (vec![3; LARGE], "cut the file"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).unwrap();
        let mut writer = Writer::new(session(), Head::default(), 1);
        store.append(writer.seal(batch(sample::opened("ada", "notes"))).unwrap()).await.unwrap();
        let hash = hash_of(&content);
        let beside = Batch { blobs: vec![content.into()], ..batch(sample::lease(1)) };
        store.append(writer.seal(beside).unwrap()).await.unwrap();
        assert_eq!(store.read(session(), 0).await.unwrap().len(), 2);
        let file = large_content(dir.path(), hash);
        match damage {
            "remove the file" => fs::remove_file(file).unwrap(),
            "cut the file" => fs::write(file, "short").unwrap(),
            sql => tamper(dir.path(), sql),
        }
        let error = store.read(session(), 0).await.unwrap_err();
        assert!(matches!(error, StoreError::Broken { seq: 2, .. }), "{damage}: {error}");
        assert!(error.to_string().contains("is missing or changed"), "{error}");
        assert_eq!(whole_prefix(&store, session()).await.unwrap().whole.records, 1, "what is before it holds");
        store.remove(session()).await.unwrap();
    }
}

#[tokio::test]
async fn a_database_cut_short_anywhere_is_never_taken_for_whole() {
    // proves J9
    let whole = used_folder().await;
    let bytes = fs::read(whole.path().join("windlass.db")).unwrap();
    let records = open(whole.path()).unwrap().read(session(), 0).await.unwrap();
    for cut in (0..bytes.len()).step_by(1_500).chain([1, 50, 99, 100, 4_095, 4_096, bytes.len() - 1]) {
        let dir = tempfile::tempdir().unwrap();
        fs::copy(whole.path().join("commits"), dir.path().join("commits")).unwrap();
        fs::write(dir.path().join("windlass.db"), &bytes[..cut]).unwrap();
        let read = match open(dir.path()) {
            Ok(store) => store.read(session(), 0).await,
            Err(error) => Err(error),
        };
        match read {
            // The read may not need the last page.
            Ok(read) => assert!(read == records && cut > 4_096, "cut at {cut}"),
            Err(StoreError::Damaged { .. } | StoreError::Broken { .. } | StoreError::Foreign { .. }) => {}
            Err(other) => panic!("cut at {cut}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_database_with_garbage_inside_never_panics() {
    let whole = used_folder().await;
    let bytes = fs::read(whole.path().join("windlass.db")).unwrap();
    for at in (0..bytes.len()).step_by(4_096) {
        let dir = tempfile::tempdir().unwrap();
        let mut damaged = bytes.clone();
        let end = (at + 2_000).min(damaged.len());
        damaged[at + 8..end].fill(0xa5);
        fs::write(dir.path().join("windlass.db"), damaged).unwrap();
        let Ok(store) = open(dir.path()) else { continue };
        let mut writer = Writer::new(session(), store.head(session()).await.unwrap_or_default(), 9);
        for result in [
            store.read(session(), 0).await.map(drop),
            store.sessions("ada").await.map(drop),
            store.append(writer.seal(batch(sample::lease(9))).unwrap()).await.map_err(StoreError::from),
        ] {
            let told = matches!(
                result,
                Ok(())
                    | Err(StoreError::Damaged { .. }
                        | StoreError::Broken { .. }
                        | StoreError::Conflict
                        | StoreError::Foreign { .. })
            );
            assert!(told, "page at {at}: {result:?}");
        }
    }
}

#[test]
fn a_data_folder_that_can_not_be_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = open(&file).unwrap_err();
    assert!(matches!(&error, StoreError::Io { place, .. } if *place == file.display().to_string()), "{error:?}");
}

#[tokio::test]
async fn the_same_large_content_is_kept_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let content: Arc<[u8]> = vec![3; LARGE].into();
    for n in 1..=2u128 {
        let id = SessionId(uuid::Uuid::from_u128(n));
        let mut writer = Writer::new(id, Head::default(), 1);
        let blobs = vec![Arc::clone(&content)];
        let opened = Batch { blobs, ..batch(sample::opened("ada", &n.to_string())) };
        store.append(writer.seal(opened).unwrap()).await.unwrap();
    }
    let shelf = dir.path().join("blobs").join(&hash_of(&content).to_string()[..2]);
    assert_eq!(fs::read_dir(shelf).unwrap().count(), 1);
}

// proves J9: blobs referred to by an append that returned Ok can be read again
#[tokio::test]
async fn a_damaged_content_is_made_anew_when_the_same_content_is_stored_again() {
    for size in [100_000, LARGE] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).unwrap();
        let content: Arc<[u8]> = vec![3; size].into();
        let hash = hash_of(&content);
        let opened = |n: u128| {
            let opened = Batch { blobs: vec![Arc::clone(&content)], ..batch(sample::opened("ada", &n.to_string())) };
            Writer::new(SessionId(uuid::Uuid::from_u128(n)), Head::default(), 1).seal(opened).unwrap()
        };
        store.append(opened(1)).await.unwrap();
        let digits = hash.to_string();
        let file = dir.path().join("blobs").join(&digits[..2]).join(&digits[2..]);
        if file.exists() {
            fs::write(&file, vec![4; size]).unwrap();
        } else {
            let database = rusqlite::Connection::open(dir.path().join("windlass.db")).unwrap();
            database.execute("UPDATE blobs SET bytes = zeroblob(length(bytes))", []).unwrap();
        }
        assert!(matches!(store.blob(hash).await, Err(StoreError::Damaged { .. })), "{size}");
        store.append(opened(2)).await.unwrap();
        assert_eq!(store.blob(hash).await.unwrap().as_deref(), Some(&content[..]), "{size}");
    }
}

// proves J9: an append that returned Ok can be read again
#[tokio::test]
async fn a_database_that_was_removed_takes_nothing_more() {
    for how in [
        |dir: &Path| fs::remove_dir_all(dir).unwrap(),
        |dir: &Path| fs::rename(dir, dir.with_extension("away")).unwrap(),
    ] {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("data");
        let store = open(&dir).unwrap();
        let mut writer = Writer::new(session(), Head::default(), 1);
        store.append(writer.seal(batch(sample::opened("ada", "notes"))).unwrap()).await.unwrap();
        how(&dir);
        let error = store.append(writer.seal(batch(sample::accepted("m1", "hi"))).unwrap()).await.unwrap_err();
        let gone = StoreError::Gone { place: dir.join("windlass.db").display().to_string() };
        assert_eq!(error, AppendError::Refused(gone.clone()));
        assert!(error.to_string().contains("The journal is lost"), "{error}");
        assert_eq!(store.claim(session()).await.err(), Some(gone));
        assert!(!dir.exists(), "nothing is made in its place");
    }
}

// proves J9: stored data is never silently replaced by an empty store
#[tokio::test]
async fn a_file_that_is_missing_from_a_used_folder_is_told() {
    let dir = used_folder().await;
    fs::remove_file(dir.path().join("windlass.db")).unwrap();
    let error = open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("windlass.db has lost its contents"), "{error}");
    assert!(!dir.path().join("windlass.db").exists());
    // An earlier version left a lock file for each session.
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("locks")).unwrap();
    fs::write(dir.path().join("locks").join(session().to_string()), "").unwrap();
    assert!(matches!(open(dir.path()), Err(StoreError::Damaged { .. })));
}

// proves J5: no file can be removed to take a session from its holder
#[tokio::test]
async fn a_session_stays_its_owners_whatever_is_removed_beside_the_database() {
    let dir = used_folder().await;
    let store = open(dir.path()).unwrap();
    let lease = store.claim(session()).await.unwrap();
    for entry in fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        match (name.starts_with("windlass.db"), entry.file_type().unwrap().is_dir()) {
            (true, _) => {}
            (false, true) => fs::remove_dir_all(entry.path()).unwrap(),
            (false, false) => fs::remove_file(entry.path()).unwrap(),
        }
    }
    for other in [open(dir.path()).unwrap(), open(dir.path()).unwrap()] {
        assert!(matches!(other.claim(session()).await, Err(StoreError::Busy { .. })));
    }
    assert!(!lease.is_lost());
    drop(lease);
    assert!(open(dir.path()).unwrap().claim(session()).await.is_ok());
}

// proves J9: SQLite's locks belong to this process, and closing a file it has open would drop them
#[tokio::test]
async fn another_store_of_the_same_process_takes_no_locks_away() {
    let dir = used_folder().await;
    let first = open(dir.path()).unwrap();
    let held = || {
        let place = fs::metadata(dir.path().join("windlass.db")).unwrap().ino();
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        locks.lines().filter(|line| line.contains("POSIX") && line.contains(&format!(":{place} "))).count()
    };
    let before = held();
    assert!(before > 0 || cfg!(not(target_os = "linux")));
    for _ in 0..2 {
        let other = open(dir.path()).unwrap();
        drop(other.claim(session()).await.unwrap());
        drop(other);
        // Its thread may still be closing, with a lock of its own for a moment.
        let begun = std::time::Instant::now();
        while held() > before && begun.elapsed() < std::time::Duration::from_secs(10) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        assert_eq!(held(), before);
    }
    drop(first);
}

// proves X1: nobody else can read conversations, whatever folder they are stored in
#[tokio::test]
async fn what_the_store_makes_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let store = open(dir.path()).unwrap();
    let _lease = store.claim(session()).await.unwrap();
    let mut writer = Writer::new(session(), Head::default(), 1);
    store.append(writer.seal(batch(sample::opened("ada", "notes"))).unwrap()).await.unwrap();
    store.append(writer.seal(batch(sample::accepted("m1", &"y".repeat(LARGE)))).unwrap()).await.unwrap();
    let mut folders = vec![dir.path().to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let is_folder = entry.file_type().unwrap().is_dir();
            assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{:?}", entry.path());
            if is_folder { folders.push(entry.path()) } else { files.push(entry.file_name()) }
        }
    }
    for name in ["windlass.db", "windlass.db-wal", "windlass.db-shm", "commits"] {
        assert!(files.iter().any(|file| file == name), "{name}: {files:?}");
    }
    assert!(files.len() > 4, "a blob as well: {files:?}");
}
