//! The list of many sessions. What it costs with 100,000 is printed by
//! `WINDLASS_LISTED_SESSIONS=100000 cargo test --release -p windlass-store --test store many_sessions -- --nocapture`.

use std::time::{Duration, Instant};

use rusqlite::params;
use windlass_store::{ArchivedFilter, SessionLog, SessionQuery, SqliteOptions, SqliteStore};

const NUMBER: &str = "WINDLASS_LISTED_SESSIONS";

/// Rows without journals: the list must not need any.
fn fill(dir: &std::path::Path, sessions: u32) {
    drop(SqliteStore::open(dir, SqliteOptions::default()).unwrap());
    let mut database = rusqlite::Connection::open(dir.join("windlass.db")).unwrap();
    let filling = database.transaction().unwrap();
    for n in 0..sessions {
        let id = uuid::Uuid::from_u128(u128::from(n) << 80 | u128::from(n.wrapping_mul(2_654_435_761)));
        let (key, prompt) =
            (format!("run-{:08x}", n.wrapping_mul(2_654_435_761)), "Fix the parser and its tests. ".repeat(6));
        let archived = (n % 3 == 0).then_some(n);
        filling
            .prepare_cached(
                "INSERT INTO sessions (session, owner, key, title, workspace, status, created, updated, last_prompt, runs,
                 called, questions, pinned, archived)
                 VALUES (?1, 'ada', ?2, 'About the parser', '/home/ada/projects/parser', 'idle', ?3, ?3, ?4, 1, 0, 0, ?5, ?6)",
            )
            .unwrap()
            .execute(params![id.as_bytes(), key, n, prompt, n % 1_000 == 0, archived])
            .unwrap();
    }
    filling.commit().unwrap();
}

async fn took(store: &SqliteStore, query: &SessionQuery) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let begun = Instant::now();
        store.list("ada", query.clone()).await.unwrap();
        best = best.min(begun.elapsed());
    }
    best
}

#[tokio::test]
async fn a_page_of_many_sessions_is_read_without_a_journal() {
    // proves W3
    let number = std::env::var(NUMBER).ok().and_then(|number| number.parse().ok()).unwrap_or(300);
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), number);
    let store = SqliteStore::open(dir.path(), SqliteOptions::default()).unwrap();
    let first = SessionQuery::default();
    let half = SessionQuery { limit: (number / 3).try_into().unwrap(), ..first.clone() };
    let after = store.list("ada", half).await.unwrap().next;
    let search = |text: &str| SessionQuery { search: Some(text.into()), ..first.clone() };
    for (what, query, rows) in [
        ("the first page", first.clone(), 50),
        ("a page in the middle", SessionQuery { after, ..first.clone() }, 50),
        ("the first page of the archive", SessionQuery { archived: ArchivedFilter::Only, ..first.clone() }, 50),
        ("a search that finds many", search("PARSER"), 50),
        ("a search that finds none", search("zeppelin"), 0),
    ] {
        let page = store.list("ada", query.clone()).await.unwrap();
        assert_eq!((page.rows.len(), page.next.is_some()), (rows, rows > 0), "{what}");
        println!("{what}: {:?}", took(&store, &query).await);
    }
}
