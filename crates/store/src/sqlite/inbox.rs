//! The inbox. The id of a message is kept for ever, also after the message was accepted.

use rusqlite::params;
use windlass_vocab::SessionId;

use super::counter::count_other;
use super::db::Database;
use super::job::Work;
use crate::{PutOutcome, StoreError, WaitingMessage};

/// Adds a message to the inbox.
pub(super) struct PutMessage(pub(super) SessionId, pub(super) WaitingMessage);

impl Work for PutMessage {
    type Output = PutOutcome;

    fn write(&self, db: &Database) -> Result<PutOutcome, StoreError> {
        let Self(session, message) = self;
        let sql = "INSERT INTO inbox (session, place, message_id, text, at)
             SELECT ?1, (SELECT coalesce(max(place), 0) + 1 FROM inbox WHERE session = ?1), ?2, ?3, ?4
             WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE session = ?1 AND message_id = ?2)
               AND NOT EXISTS (SELECT 1 FROM accepted WHERE session = ?1 AND message_id = ?2)";
        let row = params![session.0.as_bytes(), message.message_id.0, message.text, message.at.0];
        let added = count_other(db, || db.execute(sql, row))?;
        Ok(if added == 0 { PutOutcome::AlreadyThere } else { PutOutcome::Added })
    }

    fn bytes(&self) -> usize {
        self.1.text.len()
    }
}

/// Empties the inbox.
pub(super) struct DropWaiting(pub(super) SessionId);

impl Work for DropWaiting {
    type Output = usize;

    fn write(&self, db: &Database) -> Result<usize, StoreError> {
        count_other(db, || db.execute("DELETE FROM inbox WHERE session = ?1", [self.0.0.as_bytes()]))
    }

    fn bytes(&self) -> usize {
        0
    }
}
