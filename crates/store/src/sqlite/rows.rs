//! Converts session rows and numbers between Rust and SQLite.

use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;
use windlass_vocab::{SessionId, Timestamp};

use crate::projections::SessionFold;
use crate::{SessionRow, SessionStatus};

/// A statement that reads what [`fold`] needs, and its condition.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT session, owner, key, title, workspace, status, created, updated, last_prompt, runs, called, ",
            "questions, pinned, archived FROM sessions ",
            $rest
        )
    };
}

pub(super) use select;

/// A count as SQLite stores it. No journal gets near 2^63 records.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A count read from SQLite.
pub(super) fn natural(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// Bytes borrowed from SQLite's buffer.
pub(super) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    let value = row.get_ref(column)?;
    value.as_blob().map_err(|_| rusqlite::Error::InvalidColumnType(column, "bytes".into(), value.data_type()))
}

/// The session's row and fold state.
pub(super) fn load(connection: &Connection, session: SessionId) -> rusqlite::Result<Option<SessionFold>> {
    connection.prepare_cached(select!("WHERE session = ?1"))?.query_row([session.0.as_bytes()], fold).optional()
}

/// An owner's rows, the most recently changed first.
pub(super) fn list(connection: &Connection, owner: &str) -> rusqlite::Result<Vec<SessionRow>> {
    connection
        .prepare_cached(select!("WHERE owner = ?1 ORDER BY updated DESC, session DESC"))?
        .query_map([owner], |row| Ok(fold(row)?.row))?
        .collect()
}

/// How many sessions an owner has.
pub(super) fn count(connection: &Connection, owner: &str) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT count(*) FROM sessions WHERE owner = ?1")?
        .query_row([owner], |row| natural(row, 0))
}

/// All sessions and their keys, of all owners.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<(SessionId, String)>> {
    let mut statement = connection.prepare_cached("SELECT session, key FROM sessions ORDER BY created, session")?;
    statement.query_map([], |row| Ok((session(row, 0)?, row.get(1)?)))?.collect()
}

/// The owner's session with this key.
pub(super) fn find(connection: &Connection, owner: &str, key: &str) -> rusqlite::Result<Option<SessionId>> {
    connection
        .prepare_cached("SELECT session FROM sessions WHERE owner = ?1 AND key = ?2")?
        .query_row([owner, key], |row| session(row, 0))
        .optional()
}

/// Inserts or updates a row; its creation time never changes.
pub(super) fn store(connection: &Connection, fold: &SessionFold) -> rusqlite::Result<()> {
    let SessionFold { row, called, questions } = fold;
    let mut statement = connection.prepare_cached(
        "INSERT INTO sessions (session, owner, key, title, workspace, status, created, updated, last_prompt, runs,
         called, questions, pinned, archived) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, key = excluded.key, title = excluded.title,
         workspace = excluded.workspace, status = excluded.status, updated = excluded.updated,
         last_prompt = excluded.last_prompt, runs = excluded.runs, called = excluded.called,
         questions = excluded.questions, pinned = excluded.pinned, archived = excluded.archived",
    )?;
    statement.execute(params![
        row.session.0.as_bytes(),
        row.owner,
        row.key,
        row.title,
        row.workspace,
        row.status.as_str(),
        row.created.0,
        row.updated.0,
        row.last_prompt,
        row.runs,
        called,
        questions,
        row.pinned,
        row.archived.map(|at| at.0)
    ])?;
    Ok(())
}

pub(super) fn session(row: &Row<'_>, column: usize) -> rusqlite::Result<SessionId> {
    Ok(SessionId(Uuid::from_bytes(row.get(column)?)))
}

pub(super) fn fold(row: &Row<'_>) -> rusqlite::Result<SessionFold> {
    let status: String = row.get(5)?;
    let shown = SessionRow {
        session: session(row, 0)?,
        owner: row.get(1)?,
        key: row.get(2)?,
        title: row.get(3)?,
        workspace: row.get(4)?,
        status: SessionStatus::from_name(&status).ok_or(rusqlite::Error::InvalidQuery)?,
        created: Timestamp(row.get(6)?),
        updated: Timestamp(row.get(7)?),
        last_prompt: row.get(8)?,
        runs: row.get(9)?,
        pinned: row.get(12)?,
        archived: row.get::<_, Option<i64>>(13)?.map(Timestamp),
    };
    Ok(SessionFold { row: shown, called: row.get(10)?, questions: row.get(11)? })
}
