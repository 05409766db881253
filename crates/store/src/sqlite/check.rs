//! Whether the database agrees with itself. Everything else finds batches and sessions through indexes; here the tables
//! are read as they lie, so that a damaged index can't hide what is stored.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params};
use uuid::Uuid;
use windlass_vocab::SessionId;

use super::rows;
use crate::Inconsistency;

/// How many of its findings SQLite is asked for.
const FINDINGS: u32 = 100;

/// What the rows of one session come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RowTally {
    batches: u64,
    /// The first record of the last batch.
    last: u64,
}

/// All that does not agree, seen at one moment.
pub(super) fn inconsistencies(connection: &Connection) -> rusqlite::Result<Vec<Inconsistency>> {
    let found = sqlite_findings(connection)?;
    // A table may be too damaged to be read to its end, and SQLite has found that then.
    let mut told = match by_session(connection) {
        Err(_) if !found.is_empty() => Vec::new(),
        told => told?,
    };
    if let Some(first) = found.first() {
        let more = if found.len() > 1 { format!(" (and {} more findings)", found.len() - 1) } else { String::new() };
        told.push(Inconsistency { session: None, what: format!("the database is damaged: {first}{more}") });
    }
    Ok(told)
}

/// What SQLite finds when it compares every index with its table and looks at every page.
fn sqlite_findings(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({FINDINGS})"))?;
    let found: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let lines = found.iter().flat_map(|finding| finding.lines()).map(str::trim);
    // The name of the database stands above what is wrong with its pages.
    Ok(lines.filter(|line| !line.is_empty() && *line != "ok" && !line.starts_with("***")).map(str::to_owned).collect())
}

/// Compares, for each session, its batches in the table with those in the index, and with the list of sessions.
fn by_session(connection: &Connection) -> rusqlite::Result<Vec<Inconsistency>> {
    let stored = stored(connection)?;
    let listed = listed(connection)?;
    let mut told = Vec::new();
    let mut tell = |session, what| told.push(Inconsistency { session: Some(session), what });
    for (session, table) in &stored {
        let index = count(connection, *session)?;
        if index != *table {
            tell(*session, disagreement(*table, index));
        }
        match listed.get(session) {
            Some(ListPresence::Found) => {}
            Some(ListPresence::Hidden) => tell(*session, "the index of the database does not find its key".into()),
            None => tell(*session, format!("{} batches are stored, and it is not in the list", table.batches)),
        }
    }
    for session in listed.keys().filter(|session| !stored.contains_key(session)) {
        tell(*session, "it is in the list, and none of its batches is stored".into());
    }
    Ok(told)
}

fn disagreement(table: RowTally, index: RowTally) -> String {
    format!(
        "the index of the database does not agree with its table: the table has {} batches, the last from record {}, \
         and the index finds {}, the last from record {}",
        table.batches, table.last, index.batches, index.last
    )
}

/// The batches of every session, read in the order they lie in the table.
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

/// The same of one session, as its readers find them.
fn count(connection: &Connection, session: SessionId) -> rusqlite::Result<RowTally> {
    connection
        .prepare_cached("SELECT count(*), coalesce(max(seq), 0) FROM batches WHERE session = ?1")?
        .query_row([session.0.as_bytes()], |row| {
            Ok(RowTally { batches: rows::natural(row, 0)?, last: rows::natural(row, 1)? })
        })
}

/// Whether a session that is in the list is found there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListPresence {
    Found,
    /// By its id or its key it is not.
    Hidden,
}

fn listed(connection: &Connection) -> rusqlite::Result<BTreeMap<SessionId, ListPresence>> {
    let mut statement = connection.prepare("SELECT session, owner, key FROM sessions NOT INDEXED")?;
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
