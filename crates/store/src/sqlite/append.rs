//! Appending: the compare-and-set, and everything that changes with a batch.

use rusqlite::{Connection, OptionalExtension, params};
use windlass_vocab::{Envelope, Hash, MessageId, Record, SessionId};

use super::blobs::{self, BlobFiles};
use super::commit::Db;
use super::job::{Needs, Work};
use super::rows;
use super::slip::{Reach, Slip, Spooled};
use super::spool::{self, Staged};
use crate::projections::{SessionFold, project};
use crate::{Head, Sealed, StoreError};

/// One batch.
pub(super) struct Append(pub(super) Sealed);

impl Work for Append {
    type Output = ();

    fn prepare(&self, files: &BlobFiles) -> Result<(), StoreError> {
        files.keep(&self.0.blobs)
    }

    fn write(&self, db: &Db) -> Result<(), StoreError> {
        let sealed = &self.0;
        if head(&db.connection, sealed.session).map_err(db.fault())? != sealed.expected {
            return if holds(db, sealed)? { Ok(()) } else { Err(StoreError::Conflict) };
        }
        let row = write(db, std::slice::from_ref(sealed))?;
        db.tails.remember(sealed, row);
        Ok(())
    }

    /// A batch behind one that this process wrote itself, which changes the journal and the session's row at most.
    fn spool(&self, db: &Db, staged: &mut Staged) -> Option<()> {
        let sealed = &self.0;
        let accepts = |record: &Record| matches!(record, Record::MessageAccepted(_));
        if staged.is_long()
            || sealed.bytes.len() > spool::LONGEST
            || !sealed.blobs.is_empty()
            || !sealed.takes.is_empty()
            || sealed.envelopes.iter().any(|envelope| accepts(&envelope.record))
        {
            return None;
        }
        let reach = db.tails.carry_on(sealed)?;
        staged.add(&Slip::Batch(Spooled::new(sealed, reach)));
        Some(())
    }

    /// The first of a session has nothing on the spool before it.
    fn needs(&self) -> Needs {
        if self.0.expected == Head::default() { Needs::Tables } else { Needs::Journal }
    }

    fn bytes(&self) -> usize {
        bytes(&self.0)
    }

    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        1
    }
}

/// A whole journal.
pub(super) struct Restore(pub(super) Vec<Sealed>);

impl Work for Restore {
    type Output = ();

    fn prepare(&self, files: &BlobFiles) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|sealed| files.keep(&sealed.blobs))
    }

    /// What opens a session is never on the spool.
    fn needs(&self) -> Needs {
        Needs::Tables
    }

    fn write(&self, db: &Db) -> Result<(), StoreError> {
        let Some(session) = self.0.first().map(|sealed| sealed.session) else { return Ok(()) };
        if head(&db.connection, session).map_err(db.fault())? != Head::default() {
            return Err(StoreError::Exists { session });
        }
        let row = write(db, &self.0)?;
        if let Some(last) = self.0.last() {
            db.tails.remember(last, row);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(bytes).sum()
    }

    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        1
    }
}

/// The pages that find a batch.
pub(super) const PAGES: usize = 2 * 4096;

/// What a batch adds to the write-ahead log: its contents, and the pages that find it.
fn bytes(sealed: &Sealed) -> usize {
    sealed.bytes.len() + sealed.blobs.iter().map(|(_, content)| content.len()).sum::<usize>() + PAGES
}

/// The end of a session's journal.
pub(super) fn head(connection: &Connection, session: SessionId) -> rusqlite::Result<Head> {
    let mut statement = connection
        .prepare_cached("SELECT last, hash, epoch FROM batches WHERE session = ?1 ORDER BY seq DESC LIMIT 1")?;
    let head = statement
        .query_row([session.0.as_bytes()], |row| {
            Ok(Head { seq: rows::natural(row, 0)?, hash: Hash(row.get(1)?), epoch: rows::natural(row, 2)? })
        })
        .optional()?;
    Ok(head.unwrap_or_default())
}

/// Whether this very batch is stored already.
fn holds(db: &Db, sealed: &Sealed) -> Result<bool, StoreError> {
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

/// Stores consecutive batches of one session; gives its row, where that was looked at.
fn write(db: &Db, batches: &[Sealed]) -> Result<Option<SessionFold>, StoreError> {
    let Some(session) = batches.first().map(|sealed| sealed.session) else { return Ok(None) };
    let records = batches.iter().flat_map(|sealed| &sealed.envelopes).map(AsRef::as_ref);
    let row = project_row(db, session, records)?;
    for sealed in batches {
        insert(db, &Spooled::new(sealed, Reach::Journal)).map_err(db.fault())?;
        blobs::insert(db, sealed.session, rows::integer(sealed.expected.seq + 1), &sealed.blobs)?;
        take_messages(db, sealed)?;
    }
    Ok(row)
}

/// The row of a batch.
pub(super) fn insert(db: &Db, batch: &Spooled<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT INTO batches (session, seq, last, epoch, hash, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    db.connection.prepare_cached(sql)?.execute(params![
        batch.session.0.as_bytes(),
        rows::integer(batch.first),
        rows::integer(batch.head.seq),
        rows::integer(batch.head.epoch),
        batch.head.hash.0,
        batch.bytes
    ])?;
    Ok(())
}

/// Carries the session's row on, where one of the records can change it; gives it as it is then.
pub(super) fn project_row<'a>(
    db: &Db,
    session: SessionId,
    records: impl Iterator<Item = &'a Envelope> + Clone,
) -> Result<Option<SessionFold>, StoreError> {
    if !records.clone().any(|envelope| SessionFold::reads(&envelope.record)) {
        return Ok(None);
    }
    let before = rows::load(&db.connection, session).map_err(db.fault())?;
    let Some(after) = project(before.clone(), records) else { return Ok(None) };
    match before {
        Some(before) if before == after => {}
        Some(before) if before.row.key == after.row.key => rows::store(db, &after)?,
        Some(_) | None => {
            let (owner, key) = (&after.row.owner, &after.row.key);
            match rows::find(&db.connection, owner, key).map_err(db.fault())? {
                Some(other) if other != session => return Err(StoreError::KeyTaken { key: key.clone() }),
                Some(_) | None => rows::store(db, &after)?,
            }
        }
    }
    Ok(Some(after))
}

/// Messages taken up or dropped leave the inbox; those taken up are remembered by their id.
fn take_messages(db: &Db, sealed: &Sealed) -> Result<(), StoreError> {
    let session = sealed.session.0.as_bytes();
    let leave = |message: &MessageId| {
        db.execute("DELETE FROM inbox WHERE session = ?1 AND message_id = ?2", params![session, message.0])
    };
    for message in &sealed.takes {
        leave(message)?;
    }
    for envelope in &sealed.envelopes {
        if let Record::MessageAccepted(accepted) = &envelope.record {
            leave(&accepted.message_id)?;
            db.execute(
                "INSERT OR IGNORE INTO accepted (session, message_id) VALUES (?1, ?2)",
                params![session, accepted.message_id.0],
            )?;
        }
    }
    Ok(())
}
