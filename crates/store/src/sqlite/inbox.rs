//! The inbox. The id of a message is kept for ever, also after the message was accepted.

use std::sync::Arc;

use rusqlite::{Connection, params};
use windlass_vocab::{AttachedFile, Attachment, ImageContent, MessageId, SessionId};

use super::counter::count_other;
use super::db::Database;
use super::job::Work;
use crate::line::hash_of;
use crate::{PutOutcome, StoreError, WaitingMessage};

/// The files attached to waiting messages. The table is created when a database without it is opened: versions that
/// don't know it ignore it. A file leaves it with its message.
pub(super) const FILES_TABLE: &str = "
CREATE TABLE IF NOT EXISTS inbox_files (
    session BLOB NOT NULL,
    message_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    attachment TEXT NOT NULL,
    content BLOB,
    PRIMARY KEY (session, message_id, place)
);
";

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
        let added = count_other(db, || {
            let added = db.execute(sql, row)?;
            let files = if added == 0 { &[] } else { message.files.as_slice() };
            put_files(db, *session, &message.message_id, files)?;
            Ok(added)
        })?;
        Ok(if added == 0 { PutOutcome::AlreadyThere } else { PutOutcome::Added })
    }

    fn bytes(&self) -> usize {
        let of_file = |file: &AttachedFile| match file {
            AttachedFile::Image(image) => image.content.len(),
            AttachedFile::Text(text) => text.text.len(),
        };
        self.1.text.len() + self.1.files.iter().map(of_file).sum::<usize>()
    }
}

fn put_files(db: &Database, session: SessionId, message: &MessageId, files: &[AttachedFile]) -> Result<(), StoreError> {
    for (place, file) in (0i64..).zip(files) {
        let (attachment, content) = match file {
            AttachedFile::Image(image) => {
                (Attachment::Image(image.reference(hash_of(&image.content))), Some(image.content.as_ref()))
            }
            AttachedFile::Text(text) => (Attachment::Text(text.clone()), None),
        };
        let attachment =
            serde_json::to_string(&attachment).map_err(|error| StoreError::Unwritable { why: error.to_string() })?;
        db.execute(
            "INSERT OR REPLACE INTO inbox_files (session, message_id, place, attachment, content)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![session.0.as_bytes(), message.0, place, attachment, content],
        )?;
    }
    Ok(())
}

/// Removes a message from the inbox, with its files.
pub(super) fn take(db: &Database, session: SessionId, message: &MessageId) -> Result<(), StoreError> {
    let row = params![session.0.as_bytes(), message.0];
    if db.execute("DELETE FROM inbox WHERE session = ?1 AND message_id = ?2", row)? > 0 {
        db.execute("DELETE FROM inbox_files WHERE session = ?1 AND message_id = ?2", row)?;
    }
    Ok(())
}

/// Returns the files attached to a waiting message. An older database that is only read has no table of them.
pub(super) fn files(
    connection: &Connection,
    session: SessionId,
    message: &MessageId,
) -> rusqlite::Result<Vec<AttachedFile>> {
    let mut exists = connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = 'inbox_files'")?;
    if !exists.exists([])? {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(
            "SELECT attachment, content FROM inbox_files WHERE session = ?1 AND message_id = ?2 ORDER BY place",
        )?
        .query_map(params![session.0.as_bytes(), message.0], |row| {
            let attachment: String = row.get(0)?;
            let content: Option<Vec<u8>> = row.get(1)?;
            file(&attachment, content).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
            })
        })?
        .collect()
}

fn file(attachment: &str, content: Option<Vec<u8>>) -> serde_json::Result<AttachedFile> {
    Ok(match serde_json::from_str(attachment)? {
        Attachment::Text(text) => AttachedFile::Text(text),
        Attachment::Image(image) => AttachedFile::Image(ImageContent {
            name: image.name,
            media_type: image.media_type,
            width: image.width,
            height: image.height,
            content: Arc::from(content.unwrap_or_default()),
        }),
    })
}

/// Empties the inbox.
pub(super) struct DropWaiting(pub(super) SessionId);

impl Work for DropWaiting {
    type Output = usize;

    fn write(&self, db: &Database) -> Result<usize, StoreError> {
        let session = [self.0.0.as_bytes()];
        count_other(db, || {
            let dropped = db.execute("DELETE FROM inbox WHERE session = ?1", session)?;
            if dropped > 0 {
                db.execute("DELETE FROM inbox_files WHERE session = ?1", session)?;
            }
            Ok(dropped)
        })
    }

    fn bytes(&self) -> usize {
        0
    }
}
