//! Appending: the compare-and-set, and everything that changes with a batch.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_vocab::{Hash, Record, SessionId};

use super::blobs::{self, BlobFiles};
use super::db::Database;
use super::job::Work;
use super::{inbox, rows};
use crate::projections::{SessionFold, project};
use crate::{Head, SealedBatch, StoreError};

/// Appends one batch.
pub(super) struct AppendBatch(pub(super) SealedBatch);

impl Work for AppendBatch {
    type Output = ();

    fn prepare(&self, files: &BlobFiles) -> Result<(), StoreError> {
        files.keep(&self.0.blobs)
    }

    fn write(&self, db: &Database) -> Result<(), StoreError> {
        let sealed = &self.0;
        let end = JournalEnd::of(db, sealed.session)?;
        if !end.is(sealed.expected) {
            return self.held_or_conflict(db);
        }
        let row = write(db, std::slice::from_ref(sealed), end)?;
        db.tails.remember(sealed, row);
        Ok(())
    }

    fn stored(&self, db: &Database) -> Result<Option<()>, StoreError> {
        Ok(holds(db, &self.0)?.then_some(()))
    }

    fn bytes(&self) -> usize {
        bytes(&self.0)
    }

    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        1
    }
}

impl AppendBatch {
    fn held_or_conflict(&self, db: &Database) -> Result<(), StoreError> {
        if holds(db, &self.0)? { Ok(()) } else { Err(StoreError::Conflict) }
    }
}

/// Stores a whole journal.
pub(super) struct RestoreJournal(pub(super) Vec<SealedBatch>);

impl Work for RestoreJournal {
    type Output = ();

    fn prepare(&self, files: &BlobFiles) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|sealed| files.keep(&sealed.blobs))
    }

    fn write(&self, db: &Database) -> Result<(), StoreError> {
        let Some(session) = self.0.first().map(|sealed| sealed.session) else { return Ok(()) };
        let end = JournalEnd::of(db, session)?;
        if !end.is(Head::default()) {
            return Err(StoreError::Exists { session });
        }
        let row = write(db, &self.0, end)?;
        if let Some(last) = self.0.last() {
            db.tails.remember(last, row);
        }
        Ok(())
    }

    fn stored(&self, db: &Database) -> Result<Option<()>, StoreError> {
        let Some(last) = self.0.last() else { return Ok(Some(())) };
        Ok((head(&db.connection, last.session).map_err(db.fault())? == last.head).then_some(()))
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(bytes).sum()
    }

    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        1
    }
}

/// The bytes that a batch adds to the write-ahead log: its lines and blobs, and the index pages that find it.
fn bytes(sealed: &SealedBatch) -> usize {
    const PAGES: usize = 2 * 4096;
    sealed.bytes.len() + sealed.blobs.iter().map(|(_, content)| content.len()).sum::<usize>() + PAGES
}

/// The end of a session's journal.
pub(super) fn head(connection: &Connection, session: SessionId) -> rusqlite::Result<Head> {
    head_before(connection, session, u64::MAX)
}

/// The end of a session's journal before the record `seq`, which begins a batch or does not exist.
pub(super) fn head_before(connection: &Connection, session: SessionId, seq: u64) -> rusqlite::Result<Head> {
    let mut statement = connection.prepare_cached(
        "SELECT last, hash, epoch FROM batches WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 1",
    )?;
    let head = statement
        .query_row(params![session.0.as_bytes(), rows::integer(seq)], |row| {
            Ok(Head { seq: rows::natural(row, 0)?, hash: Hash(row.get(1)?), epoch: rows::natural(row, 2)? })
        })
        .optional()?;
    Ok(head.unwrap_or_default())
}

/// Whether this very batch is already stored.
fn holds(db: &Database, sealed: &SealedBatch) -> Result<bool, StoreError> {
    let stored = db
        .connection
        .prepare_cached("SELECT hash FROM batches WHERE session = ?1 AND seq = ?2")
        .and_then(|mut statement| {
            let place = params![sealed.session.0.as_bytes(), rows::integer(sealed.expected.seq + 1)];
            statement.query_row(place, |row| row.get(0)).optional()
        })
        .map_err(db.fault())?;
    Ok(stored == Some(sealed.head.hash.0))
}

/// What a batch is compared with before it is inserted. The two are one compare-and-set, because they are in one
/// transaction, which holds the write lock from its beginning.
#[derive(Clone, Copy)]
struct JournalEnd {
    /// The hash of the session's last batch; `None` if it has none.
    hash: Option<[u8; 32]>,
    /// The commits without a batch, of the whole database (`counter`).
    other_commits: u64,
}

impl JournalEnd {
    fn of(db: &Database, session: SessionId) -> Result<Self, StoreError> {
        let sql =
            "SELECT (SELECT hash FROM batches WHERE session = ?1 ORDER BY seq DESC LIMIT 1), other_commits FROM store";
        db.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row([session.0.as_bytes()], |row| {
                    Ok(Self { hash: row.get(0)?, other_commits: rows::natural(row, 1)? })
                })
            })
            .map_err(db.fault())
    }

    /// Whether the journal ends in `head`.
    fn is(self, head: Head) -> bool {
        self.hash == (head != Head::default()).then_some(head.hash.0)
    }
}

/// Stores consecutive batches of one session behind its end; returns its new row if the row was read.
fn write(db: &Database, batches: &[SealedBatch], mut end: JournalEnd) -> Result<Option<SessionFold>, StoreError> {
    let row = project_row(db, batches)?;
    for sealed in batches {
        if !end.is(sealed.expected) {
            // The first was compared before, so here the batches do not follow each other.
            return Err(StoreError::Unwritable { why: "its batches are not in order".into() });
        }
        db.commits.set(Some(insert(db, sealed)? + end.other_commits));
        end.hash = Some(sealed.head.hash.0);
        blobs::insert(db, sealed.session, rows::integer(sealed.expected.seq + 1), &sealed.blobs)?;
        take_messages(db, sealed)?;
    }
    Ok(row)
}

/// Inserts the row of a batch; returns its number. A statement that checked the head as well, or returned the number
/// itself, would make a temporary table for each.
fn insert(db: &Database, sealed: &SealedBatch) -> Result<u64, StoreError> {
    let sql = "INSERT INTO batches (session, seq, last, epoch, hash, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    db.execute(
        sql,
        params![
            sealed.session.0.as_bytes(),
            rows::integer(sealed.expected.seq + 1),
            rows::integer(sealed.head.seq),
            rows::integer(sealed.head.epoch),
            sealed.head.hash.0,
            sealed.bytes,
        ],
    )?;
    Ok(u64::try_from(db.connection.last_insert_rowid()).unwrap_or_default())
}

/// Updates the session's row if one of the records can change it; returns the new row.
fn project_row(db: &Database, batches: &[SealedBatch]) -> Result<Option<SessionFold>, StoreError> {
    let records = || batches.iter().flat_map(|sealed| &sealed.envelopes);
    let Some(first) = batches.first().filter(|_| records().any(|envelope| SessionFold::reads(&envelope.record))) else {
        return Ok(None);
    };
    let session = first.session;
    let before = match db.tails.row(session, first.expected) {
        Some(row) => Some(row),
        None => rows::load(&db.connection, session).map_err(db.fault())?,
    };
    let Some(after) = project(before.clone(), records().map(AsRef::as_ref)) else { return Ok(None) };
    match before {
        Some(before) if before == after => {}
        Some(before) if before.row.has_name_of(&after.row) => {
            rows::store(&db.connection, &after).map_err(db.fault())?;
        }
        Some(_) | None => {
            let (owner, key) = (&after.row.owner, &after.row.key);
            match rows::find(&db.connection, owner, key).map_err(db.fault())? {
                Some(other) if other != session => return Err(StoreError::KeyTaken { key: key.clone() }),
                Some(_) | None => rows::store(&db.connection, &after).map_err(db.fault())?,
            }
        }
    }
    Ok(Some(after))
}

/// Removes accepted and dropped messages from the inbox; stores the ids of the accepted ones.
fn take_messages(db: &Database, sealed: &SealedBatch) -> Result<(), StoreError> {
    let session = sealed.session.0.as_bytes();
    for message in &sealed.takes {
        inbox::take(db, sealed.session, message)?;
    }
    for envelope in &sealed.envelopes {
        if let Record::MessageAccepted(accepted) = &envelope.record {
            inbox::take(db, sealed.session, &accepted.message_id)?;
            db.execute(
                "INSERT OR IGNORE INTO accepted (session, message_id) VALUES (?1, ?2)",
                params![session, accepted.message_id.0],
            )?;
        }
    }
    Ok(())
}
