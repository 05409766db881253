//! A single flipped bit in the database hides no records from the checks.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::{ProptestConfig, proptest};
use proptest::sample::Index;
use windlass_store::conformance::sample;
use windlass_store::{Batch, Durability, Entry, Head, SessionLog, SqliteOptions, SqliteStore, Writer, verify};
use windlass_vocab::{Record, SessionId};

const DATABASE: &str = "windlass.db";
const SESSIONS: u128 = 3;
const BATCHES: u64 = 150;

fn session(n: u128) -> SessionId {
    SessionId(uuid::Uuid::from_u128(n))
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn batch(record: Record) -> Batch {
    Batch { entries: vec![Entry::new(record)], ..Batch::default() }
}

fn open(dir: &Path) -> Option<SqliteStore> {
    SqliteStore::open(dir, SqliteOptions { durability: Durability::Normal, ..SqliteOptions::default() }).ok()
}

/// A closed data folder: everything is in the database, and the log is empty.
static WHOLE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    run(async {
        for n in 1..=SESSIONS {
            let mut writer = Writer::new(session(n), Head::default(), 1);
            let first = batch(sample::opened("ada", &format!("notes {n}")));
            let rest = (1..BATCHES).map(|_| batch(sample::lease(1)));
            let batches = [first].into_iter().chain(rest).map(|batch| writer.seal(batch).unwrap());
            store.restore(batches.collect()).await.unwrap();
        }
    });
    drop(store);
    dir
});

/// A copy of the folder with one bit of its database flipped.
fn flipped(at: usize, bit: u8) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut database = fs::read(WHOLE.path().join(DATABASE)).unwrap();
    database[at] ^= 1 << bit;
    fs::write(dir.path().join(DATABASE), database).unwrap();
    fs::copy(WHOLE.path().join("commits"), dir.path().join("commits")).unwrap();
    dir
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// All records exist.
    Whole,
    /// Verifying the journals finds the damage.
    ByTheJournals,
    /// Only the check of the whole store finds it.
    ByTheCheck,
    /// Records are missing, and nothing reports it.
    Hidden,
}

/// The result of checking a folder as `windlass sessions verify` does.
async fn said(dir: &Path) -> Said {
    let Some(store) = open(dir) else { return Said::ByTheJournals };
    let Ok(rows) = store.sessions("ada").await else { return Said::ByTheJournals };
    if store.loss().is_some() {
        return Said::ByTheJournals;
    }
    let mut records = 0;
    for row in &rows {
        match verify(&store, row.session).await {
            Ok(verified) => records += verified.records,
            Err(_) => return Said::ByTheJournals,
        }
    }
    let checked = store.check().await;
    match (records, checked.is_ok_and(|found| found.is_empty())) {
        (records, _) if records == BATCHES * SESSIONS as u64 => Said::Whole,
        (_, false) => Said::ByTheCheck,
        (_, true) => Said::Hidden,
    }
}

/// Offsets of the pages of the indexes and of the table of sessions.
fn pages() -> Vec<(String, u32)> {
    let database = rusqlite::Connection::open(WHOLE.path().join(DATABASE)).unwrap();
    let size: u32 = database.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    let mut statement = database
        .prepare("SELECT name, rootpage FROM sqlite_master WHERE name LIKE '%batches_1' OR name LIKE '%sessions%'")
        .unwrap();
    let roots = statement.query_map([], |row| Ok((row.get(0)?, (row.get::<_, u32>(1)? - 1) * size))).unwrap();
    roots.map(Result::unwrap).collect()
}

#[test]
fn a_whole_database_agrees_with_itself() {
    let dir = flipped(0, 0);
    fs::copy(WHOLE.path().join(DATABASE), dir.path().join(DATABASE)).unwrap();
    let found = run(open(dir.path()).unwrap().check());
    assert_eq!(found, Ok(vec![]));
}

#[test]
fn a_bit_that_changed_in_an_index_hides_no_records_from_the_check() {
    // proves J11
    let mut by_the_check = 0;
    for (name, page) in pages() {
        // The header and cell pointers at the start of the page, and the entries at its end.
        for at in (0..24).chain(3_900..4_096) {
            let bit = u8::try_from(at % 8).unwrap();
            let said = run(said(flipped(usize::try_from(page + at).unwrap(), bit).path()));
            assert_ne!(said, Said::Hidden, "bit {bit} of byte {at} of {name}");
            by_the_check += u32::from(said == Said::ByTheCheck);
        }
    }
    assert!(by_the_check > 20, "following the journals does not find these: {by_the_check}");
}

#[test]
fn a_session_that_is_missing_from_the_list_or_from_the_index_is_named() {
    // proves J11
    let dir = flipped(0, 0);
    fs::copy(WHOLE.path().join(DATABASE), dir.path().join(DATABASE)).unwrap();
    let database = rusqlite::Connection::open(dir.path().join(DATABASE)).unwrap();
    database.execute("DELETE FROM sessions WHERE key = 'notes 2'", []).unwrap();
    drop(database);
    let store = open(dir.path()).unwrap();
    let found = run(store.check()).unwrap();
    assert_eq!(found.iter().map(|found| found.session).collect::<Vec<_>>(), [Some(session(2))]);
    let said = found[0].to_string();
    assert!(said.contains("150 batches are stored, and it is not in the list"), "{said}");
}

#[test]
fn a_backup_of_a_database_that_does_not_agree_with_itself_says_so() {
    // proves J11
    let dir = flipped(0, 0);
    fs::copy(WHOLE.path().join(DATABASE), dir.path().join(DATABASE)).unwrap();
    let database = rusqlite::Connection::open(dir.path().join(DATABASE)).unwrap();
    database.execute("DELETE FROM sessions WHERE key = 'notes 2'", []).unwrap();
    drop(database);
    let to = tempfile::tempdir().unwrap();
    let held = run(async { open(dir.path()).unwrap().backup(to.path()).await }).unwrap();
    assert_eq!((held.sessions, held.inconsistent.len(), held.broken.len()), (2, 1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bit_that_changed_anywhere_in_the_database_hides_no_records_from_the_check(at: Index, bit in 0..8u8) {
        // proves J11
        let length = usize::try_from(fs::metadata(WHOLE.path().join(DATABASE)).unwrap().len()).unwrap();
        assert_ne!(run(said(flipped(at.index(length), bit).path())), Said::Hidden);
    }
}
