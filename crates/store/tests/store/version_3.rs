//! A folder of version 3, as the last release of that version left it: its sessions can be neither pinned nor archived.

use std::fs;
use std::path::{Path, PathBuf};

use windlass_store::conformance::sample;
use windlass_store::{
    Batch, Entry, Inbox, Ownership, SessionLog, SessionQuery, SqliteOptions, SqliteStore, StoreError, Writer, export,
    verify,
};
use windlass_vocab::{SessionChanged, SessionEdit, SessionId, Timestamp};

const SESSIONS: [(&str, &str); 3] = [
    ("first", "0198f3a0-0000-7000-8000-000000000001"),
    ("second", "0198f3a0-0000-7000-8000-000000000002"),
    ("child", "0198f3a0-0000-7000-8000-000000000003"),
];

fn fixture() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/folders/v3")
}

fn copy() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["windlass.db", "commits"] {
        fs::copy(fixture().join(name), dir.path().join(name)).unwrap();
    }
    dir
}

fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, SqliteOptions::default()).unwrap()
}

fn version(dir: &Path) -> i64 {
    let database = rusqlite::Connection::open(dir.join("windlass.db")).unwrap();
    database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn second() -> SessionId {
    SESSIONS[1].1.parse().unwrap()
}

async fn keys(store: &SqliteStore) -> Vec<String> {
    let page = store.list("ada", SessionQuery::default()).await.unwrap();
    page.rows.into_iter().map(|row| row.key).collect()
}

/// Checks that the store has all that the release had written.
async fn is_whole(store: &SqliteStore) {
    for (name, id) in SESSIONS {
        let (session, mut out) = (id.parse().unwrap(), Vec::new());
        export(store, session, &mut out).await.unwrap();
        let expected = fs::read_to_string(fixture().join(format!("{name}.jsonl"))).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        verify(store, session).await.unwrap();
        let row = store.row(session).await.unwrap().unwrap();
        assert_eq!((row.pinned, row.archived), (false, None));
    }
    assert_eq!(keys(store).await, ["second", "tidy-notes"], "the child of tidy-notes is left out");
    assert_eq!(store.check().await.unwrap(), []);
    assert_eq!(store.waiting(second()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_version_3_folder_is_migrated_and_its_sessions_can_be_pinned() {
    // proves J7
    let dir = copy();
    for _ in 0..2 {
        let store = open(dir.path());
        assert_eq!(store.loss(), None);
        is_whole(&store).await;
    }
    assert_eq!(version(dir.path()), 4);
    let (store, first) = (open(dir.path()), SESSIONS[0].1.parse().unwrap());
    let mut writer = Writer::new(first, store.head(first).await.unwrap(), 9);
    let edits = [SessionEdit::Pin, SessionEdit::Archive].map(|edit| Entry::new(SessionChanged::from(edit)));
    let batch = Batch { at: Timestamp(2_100_000_000_000), entries: edits.into(), ..Batch::default() };
    store.append(writer.seal(batch).unwrap()).await.unwrap();
    drop(store);
    let row = open(dir.path()).row(first).await.unwrap().unwrap();
    assert_eq!((row.pinned, row.archived), (true, Some(Timestamp(2_100_000_000_000))));
}

#[tokio::test]
async fn a_version_3_folder_that_cannot_be_written_is_read_as_it_is() {
    // proves J7, J9
    let (dir, scratch) = (copy(), tempfile::tempdir().unwrap());
    let before = fs::read(dir.path().join("windlass.db")).unwrap();
    let store = SqliteStore::open_read_only(dir.path(), scratch.path()).unwrap();
    is_whole(&store).await;
    assert_eq!(store.holder(second()).await.unwrap(), None);
    assert!(matches!(store.claim(second()).await, Err(StoreError::ReadOnly { .. })));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "it was copied");
    drop(store);
    assert!(fs::read(dir.path().join("windlass.db")).unwrap() == before);
}

#[tokio::test]
async fn a_version_3_folder_with_lost_commits_is_read_and_migrated_once_the_loss_is_accepted() {
    // proves J9: nothing is written while commits are missing
    let dir = copy();
    let database = rusqlite::Connection::open(dir.path().join("windlass.db")).unwrap();
    let newest = "DELETE FROM batches WHERE rowid = (SELECT max(rowid) FROM batches)";
    assert_eq!(database.execute(newest, []).unwrap(), 1);
    drop(database);
    let store = open(dir.path());
    assert!(store.loss().is_some());
    assert_eq!(keys(&store).await, ["second", "tidy-notes"]);
    assert_eq!(version(dir.path()), 3);
    assert!(store.accept_loss().await.unwrap().is_some());
    assert_eq!(version(dir.path()), 4);
    let mut writer = Writer::new(second(), store.head(second()).await.unwrap(), 9);
    let batch = Batch { entries: vec![Entry::new(sample::accepted("m2", "go on"))], ..Batch::default() };
    store.append(writer.seal(batch).unwrap()).await.unwrap();
    assert_eq!(store.row(second()).await.unwrap().unwrap().last_prompt.as_deref(), Some("go on"));
}
