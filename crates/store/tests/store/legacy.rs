//! A version 2 folder, with a spool file beside its database, as the last release of that version left it.

use std::fs;
use std::path::{Path, PathBuf};

use windlass_store::conformance::sample;
use windlass_store::{
    Batch, Entry, Inbox, PutOutcome, SessionLog, SessionStatus, SqliteOptions, SqliteStore, StoreError, Writer, export,
    verify,
};
use windlass_vocab::SessionId;

const SESSIONS: [(&str, &str); 2] =
    [("first", "0198f3a0-0000-7000-8000-000000000001"), ("second", "0198f3a0-0000-7000-8000-000000000002")];

fn fixture() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/folders/v2-spool")
}

fn copy() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["windlass.db", "windlass.db-wal", "spool", "claims", "write.lock"] {
        fs::copy(fixture().join(name), dir.path().join(name)).unwrap();
    }
    dir
}

fn open(dir: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(dir, SqliteOptions::default())
}

async fn exported(store: &SqliteStore, session: SessionId) -> String {
    let mut out = Vec::new();
    export(store, session, &mut out).await.unwrap();
    String::from_utf8(out).unwrap()
}

#[tokio::test]
async fn what_was_beside_the_database_of_a_version_2_folder_is_in_it() {
    // proves J7, J9
    let dir = copy();
    for _ in 0..2 {
        let store = open(dir.path()).unwrap();
        for (name, id) in SESSIONS {
            let session = id.parse().unwrap();
            assert_eq!(
                exported(&store, session).await,
                fs::read_to_string(fixture().join(format!("{name}.jsonl"))).unwrap()
            );
            verify(&store, session).await.unwrap();
        }
        let row = store.row(SESSIONS[0].1.parse().unwrap()).await.unwrap().unwrap();
        assert_eq!((row.status, row.runs, row.last_prompt.as_deref()), (SessionStatus::Idle, 1, Some("Tidy my notes")));
        assert_eq!(store.waiting(row.session).await.unwrap().len(), 1);
        assert_eq!(store.put(row.session, sample::waiting("m1", "again")).await.unwrap(), PutOutcome::AlreadyThere);
        for gone in ["spool", "write.lock"] {
            assert!(!dir.path().join(gone).exists(), "{gone}");
        }
    }
    let (store, session) = (open(dir.path()).unwrap(), SESSIONS[1].1.parse().unwrap());
    let mut writer = Writer::new(session, store.head(session).await.unwrap(), 9);
    let next = Batch { entries: vec![Entry::new(sample::lease(2))], ..Batch::default() };
    store.append(writer.seal(next).unwrap()).await.unwrap();
    verify(&store, session).await.unwrap();
}

#[tokio::test]
async fn a_version_2_folder_that_lost_its_file_of_batches_says_so() {
    // proves J9
    let dir = copy();
    fs::remove_file(dir.path().join("spool")).unwrap();
    let error = open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("spool is missing"), "{error}");
    fs::write(dir.path().join("spool"), "Dear diary, today").unwrap();
    assert!(matches!(open(dir.path()), Err(StoreError::Foreign { .. })));
    // An empty file lets the user continue without it.
    fs::write(dir.path().join("spool"), "").unwrap();
    let store = open(dir.path()).unwrap();
    assert_eq!(store.head(SESSIONS[0].1.parse().unwrap()).await.unwrap().seq, 3);
}

#[test]
fn a_file_of_batches_without_its_database_is_not_taken_for_a_new_folder() {
    // proves J9: it is refused, and left unchanged
    let spool = fs::read(fixture().join("spool")).unwrap();
    for names in [&["spool"][..], &["spool", "write.lock"]] {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            fs::copy(fixture().join(name), dir.path().join(name)).unwrap();
        }
        let missing = open(dir.path()).unwrap_err();
        assert!(
            matches!(&missing, StoreError::Damaged { what } if what.contains("has lost its contents")),
            "{missing}"
        );
        // An empty file at the database path is no database either.
        fs::write(dir.path().join("windlass.db"), "").unwrap();
        assert!(matches!(open(dir.path()), Err(StoreError::Damaged { .. })));
        assert_eq!(fs::read(dir.path().join("spool")).unwrap(), spool);
    }
}

#[test]
fn what_a_process_left_that_was_killed_after_taking_a_folder_over_is_removed() {
    let dir = copy();
    drop(open(dir.path()).unwrap());
    for name in ["spool", "write.lock"] {
        fs::copy(fixture().join(name), dir.path().join(name)).unwrap();
    }
    drop(open(dir.path()).unwrap());
    assert!(!dir.path().join("spool").exists() && !dir.path().join("write.lock").exists());
}

#[tokio::test]
async fn a_bit_that_changed_in_the_file_of_batches_is_told() {
    // proves J9: no later batch is dropped without an error
    let spool = fs::read(fixture().join("spool")).unwrap();
    let whole = exported(&open(copy().path()).unwrap(), SESSIONS[0].1.parse().unwrap()).await;
    let (mut told, mut ends) = (0, 0);
    // Starts after the header. Entries that the database already has are not read again, so flips in them are harmless.
    for at in (16..spool.len()).step_by(37) {
        let dir = copy();
        let mut flipped = spool.clone();
        flipped[at] ^= 0x10;
        fs::write(dir.path().join("spool"), flipped).unwrap();
        match open(dir.path()) {
            Err(StoreError::Damaged { what }) => {
                assert!(what.contains("damaged at byte"), "{what}");
                told += 1;
            }
            Ok(store) => {
                let text = exported(&store, SESSIONS[0].1.parse().unwrap()).await;
                // Only damage to the very last batch goes unnoticed, as no later entry follows it.
                if text != whole {
                    assert!(at > spool.len() - 800, "{at} of {}", spool.len());
                    ends += 1;
                }
            }
            Err(other) => panic!("{at}: {other:?}"),
        }
    }
    assert!(told > 50 && ends < 25, "{told} {ends}");
}

#[tokio::test]
async fn batches_that_follow_another_history_are_not_taken_for_this_ones() {
    // proves J9, J11: a matching number alone does not make a batch the next one
    let dir = copy();
    let database = rusqlite::Connection::open(dir.path().join("windlass.db")).unwrap();
    let session: SessionId = SESSIONS[1].1.parse().unwrap();
    let lost = "UPDATE batches SET hash = zeroblob(32) WHERE session = ?1 AND seq = (SELECT max(seq) FROM batches \
                WHERE session = ?1)";
    assert_eq!(database.execute(lost, [session.0.as_bytes()]).unwrap(), 1);
    drop(database);
    let store = open(dir.path()).unwrap();
    assert_eq!(store.head(session).await.unwrap().seq, 3);
    let whole = fs::read_to_string(fixture().join("first.jsonl")).unwrap();
    assert_eq!(exported(&store, SESSIONS[0].1.parse().unwrap()).await, whole);
}
