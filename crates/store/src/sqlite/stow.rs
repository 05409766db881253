//! Stowing: slips become rows of the database, in the transaction that notes how far the spool is stowed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, params};
use windlass_vocab::SessionId;

use super::append;
use super::commit::Db;
use super::rows;
use super::slip::{Check, Reach, Slip, Slips, Spooled};
use super::spool::{Position, Spool};
use crate::StoreError;
use crate::line::BlobMap;
use crate::verify::decode_stored;

/// How far the database has the spool.
pub(super) fn stowed(connection: &Connection) -> rusqlite::Result<Position> {
    connection.prepare_cached("SELECT lap, stowed, mark FROM spool")?.query_row([], |row| {
        Ok(Position { lap: rows::natural(row, 0)?, offset: rows::natural(row, 1)?, check: Check(row.get(2)?) })
    })
}

/// Notes how far the database has the spool.
pub(super) fn note(db: &Db, position: Position) -> Result<(), StoreError> {
    let (lap, offset) = (rows::integer(position.lap), rows::integer(position.offset));
    db.execute("UPDATE spool SET lap = ?1, stowed = ?2, mark = ?3", params![lap, offset, position.check.0])?;
    Ok(())
}

/// Takes over the slips that are not stowed yet; within a transaction, caught up. Gives about how many bytes that
/// adds to the write-ahead log.
pub(super) fn stow(db: &Db, spool: &Spool) -> Result<usize, StoreError> {
    let stowed = stowed(&db.connection).map_err(db.fault())?;
    let bytes = spool.slips_behind(stowed)?;
    let mut slips = Slips::new(&bytes, stowed.check);
    let mut ends = Ends::default();
    let mut written = 0;
    let mut rows: HashMap<SessionId, Vec<Spooled<'_>>> = HashMap::new();
    for slip in &mut slips {
        match slip {
            Slip::Batch(batch) => {
                if ends.follows(db, &batch)? {
                    append::insert(db, &batch).map_err(db.fault())?;
                    written += batch.bytes.len() + append::PAGES;
                    if batch.reach == Reach::Row {
                        rows.entry(batch.session).or_default().push(batch);
                    }
                }
            }
            Slip::Bell => {}
        }
    }
    for (session, batches) in rows {
        carry_on_row(db, session, ends.of(session), &batches)?;
    }
    if slips.left() > 0 {
        return Err(StoreError::Damaged { what: "what was just written to the spool can't be read".into() });
    }
    // Bells alone are not worth a page: whoever comes next reads past them.
    if !ends.0.is_empty() {
        note(db, spool.end())?;
    }
    Ok(written)
}

/// Carries on the row of a session that ends with the record `end`, by the batches that change it. Where this
/// process wrote them itself it knows the row; else they are read.
fn carry_on_row(db: &Db, session: SessionId, end: u64, batches: &[Spooled<'_>]) -> Result<(), StoreError> {
    if let Some(row) = db.tails.row(session, end) {
        return rows::store(db, &row);
    }
    let mut records = Vec::new();
    for batch in batches {
        decode_stored(session, batch.first, batch.bytes, &BlobMap::new(), &mut records)?;
    }
    append::project_row(db, session, records.iter())?;
    Ok(())
}

/// The last records of sessions, by number.
#[derive(Default)]
struct Ends(HashMap<SessionId, u64>);

impl Ends {
    /// Whether a batch goes on where its session ends. With NORMAL, loss of power can take what the database had
    /// and leave what was on the spool behind it: that is then lost as well.
    fn follows(&mut self, db: &Db, batch: &Spooled<'_>) -> Result<bool, StoreError> {
        let end = match self.0.entry(batch.session) {
            Entry::Occupied(end) => end.into_mut(),
            // Whoever knows how a session ends wrote or looked at its end when nothing was left over on the spool.
            Entry::Vacant(vacant) if db.tails.know(batch.session) => vacant.insert(batch.first - 1),
            Entry::Vacant(vacant) => {
                vacant.insert(append::head(&db.connection, batch.session).map_err(db.fault())?.seq)
            }
        };
        let follows = batch.first == *end + 1;
        if follows {
            *end = batch.head.seq;
        }
        Ok(follows)
    }

    fn of(&self, session: SessionId) -> u64 {
        self.0.get(&session).copied().unwrap_or_default()
    }
}
