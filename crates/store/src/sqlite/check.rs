//! Checks the database for inconsistencies. All other reads find batches and sessions through indexes; the checks here
//! scan the tables themselves, so that a damaged index can't hide stored rows.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params};
use uuid::Uuid;
use windlass_vocab::SessionId;

use super::rows;
use crate::Inconsistency;

/// The most findings requested from SQLite.
const FINDINGS: u32 = 100;

/// A summary of the batches of one session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RowTally {
    batches: u64,
    /// The first record of the last batch.
    last: u64,
}

/// Returns all inconsistencies of one snapshot.
pub(super) fn inconsistencies(connection: &Connection) -> rusqlite::Result<Vec<Inconsistency>> {
    let found = sqlite_findings(connection)?;
    // A table may be too damaged to be scanned to its end; SQLite has reported that in `found`.
    let mut inconsistencies = match by_session(connection) {
        Err(_) if !found.is_empty() => Vec::new(),
        compared => compared?,
    };
    if let Some(first) = found.first() {
        let more = if found.len() > 1 { format!(" (and {} more findings)", found.len() - 1) } else { String::new() };
        inconsistencies.push(Inconsistency { session: None, what: format!("the database is damaged: {first}{more}") });
    }
    Ok(inconsistencies)
}

/// Runs SQLite's integrity check, which compares every index with its table and checks every page.
fn sqlite_findings(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS})"))?;
    let found: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let lines = found.iter().flat_map(|finding| finding.lines()).map(str::trim);
    // SQLite prints a `***` line with the database name before its findings about pages.
    Ok(lines.filter(|line| !line.is_empty() && *line != "ok" && !line.starts_with("***")).map(str::to_owned).collect())
}

/// Compares, for each session, its batches in the table with those in the index, and with the list of sessions.
fn by_session(connection: &Connection) -> rusqlite::Result<Vec<Inconsistency>> {
    let stored = stored(connection)?;
    let listed = listed(connection)?;
    let mut inconsistencies = Vec::new();
    let mut report = |session, what| inconsistencies.push(Inconsistency { session: Some(session), what });
    for (session, table) in &stored {
        let index = count(connection, *session)?;
        if index != *table {
            report(*session, disagreement(*table, index));
        }
        match listed.get(session) {
            Some(ListPresence::Found) => {}
            Some(ListPresence::Hidden) => report(*session, "the index of the database does not find its key".into()),
            None => report(*session, format!("{} batches are stored, and it is not in the list", table.batches)),
        }
    }
    for session in listed.keys().filter(|session| !stored.contains_key(session)) {
        report(*session, "it is in the list, and none of its batches is stored".into());
    }
    Ok(inconsistencies)
}

fn disagreement(table: RowTally, index: RowTally) -> String {
    format!(
        "the index of the database does not agree with its table: the table has {} batches, the last from record {}, \
         and the index finds {}, the last from record {}",
        table.batches, table.last, index.batches, index.last
    )
}

/// Counts the batches of every session by scanning the table without an index.
fn stored(connection: &Connection) -> rusqlite::Result<BTreeMap<SessionId, RowTally>> {
    let mut sessions = BTreeMap::<SessionId, RowTally>::new();
    let mut statement = connection.prepare("SELECT session, seq FROM batches NOT INDEXED ORDER BY rowid")?;
    let mut batches = statement.query([])?;
    while let Some(row) = batches.next()? {
        let rows = sessions.entry(SessionId(row.get::<_, [u8; 16]>(0).map(Uuid::from_bytes)?)).or_default();
        rows.batches += 1;
        rows.last = rows.last.max(rows::natural(row, 1)?);
    }
    Ok(sessions)
}

/// Counts the batches of one session through the index, as readers find them.
fn count(connection: &Connection, session: SessionId) -> rusqlite::Result<RowTally> {
    connection
        .prepare_cached("SELECT count(*), coalesce(max(seq), 0) FROM batches WHERE session = ?1")?
        .query_row([session.0.as_bytes()], |row| {
            Ok(RowTally { batches: rows::natural(row, 0)?, last: rows::natural(row, 1)? })
        })
}

/// Whether the indexes find a session that is in the table of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListPresence {
    Found,
    /// The index by id or the one by key does not find it.
    Hidden,
}

fn listed(connection: &Connection) -> rusqlite::Result<BTreeMap<SessionId, ListPresence>> {
    let mut statement = connection.prepare("SELECT session, owner, key FROM main.sessions NOT INDEXED")?;
    let mut rows = statement.query([])?;
    let mut sessions = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let id = row.get::<_, [u8; 16]>(0)?;
        let (owner, key): (String, String) = (row.get(1)?, row.get(2)?);
        let by_id = exists(connection, "SELECT 1 FROM sessions WHERE session = ?1", [id])?;
        let by_key = exists(connection, "SELECT 1 FROM sessions WHERE owner = ?1 AND key = ?2", [owner, key])?;
        let found = if by_id && by_key { ListPresence::Found } else { ListPresence::Hidden };
        sessions.insert(SessionId(Uuid::from_bytes(id)), found);
    }
    Ok(sessions)
}

fn exists(connection: &Connection, sql: &str, which: impl Params) -> rusqlite::Result<bool> {
    connection.prepare_cached(sql)?.exists(which)
}
