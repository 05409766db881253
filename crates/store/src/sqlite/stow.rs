//! Stowing: slips become rows of the database, in the transaction that notes how far the spool is stowed.

use rusqlite::{Connection, params};

use super::append;
use super::commit::Db;
use super::rows;
use super::slip::{Check, Slip, Slips};
use super::spool::{Position, Spool};
use crate::StoreError;

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

/// Takes over the slips that are not stowed yet; within a transaction, caught up. Gives how many bytes they are.
pub(super) fn stow(db: &Db, spool: &Spool) -> Result<usize, StoreError> {
    let stowed = stowed(&db.connection).map_err(db.fault())?;
    let bytes = spool.slips_behind(stowed)?;
    let mut slips = Slips::new(&bytes, stowed.check);
    let mut batches = 0;
    for slip in &mut slips {
        match slip {
            Slip::Batch(batch) => {
                append::insert(db, &batch).map_err(db.fault())?;
                batches += 1;
            }
            Slip::Bell => {}
        }
    }
    if slips.left() > 0 {
        return Err(StoreError::Damaged { what: "what was just written to the spool can't be read".into() });
    }
    // Bells alone are not worth a page: whoever comes next reads past them.
    if batches > 0 {
        note(db, spool.end())?;
    }
    Ok(bytes.len())
}
