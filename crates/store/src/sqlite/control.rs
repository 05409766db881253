//! Commands for sessions. Their table is created when a database without it is opened: versions that don't know the
//! table ignore it, so the schema version was not raised for it.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use windlass_vocab::{CommandId, Control, ControlOutcome, SessionId, Timestamp};

use super::counter::count_other;
use super::db::Database;
use super::job::Work;
use super::{append, rows};
use crate::{AddressedCommand, Addressee, COMMAND_KEPT_MS, CommandState, Head, SentCommand, StoreError, TakenCommand};

/// `taken` and `outcome` hold the state: 0 and NULL (waiting), 1 and NULL (taken), 1 and the outcome (settled).
pub(super) const TABLE: &str = "
CREATE TABLE IF NOT EXISTS control (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    command TEXT NOT NULL,
    expires INTEGER NOT NULL,
    taken INTEGER NOT NULL DEFAULT 0,
    outcome TEXT
);
";

/// Stores a command for the session's holder.
pub(super) struct SendCommand(pub(super) SessionId, pub(super) SentCommand);

impl Work for SendCommand {
    type Output = Addressee;

    fn write(&self, db: &Database) -> Result<Addressee, StoreError> {
        let Self(session, command) = self;
        let Head { epoch, .. } = append::head(&db.connection, *session).map_err(db.fault())?;
        let control = serde_json::to_string(&command.control)
            .map_err(|error| StoreError::Unwritable { why: error.to_string() })?;
        let sql = "INSERT OR IGNORE INTO control (id, session, epoch, command, expires) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![command.id.0, session.0.as_bytes(), rows::integer(epoch), control, command.expires.0];
        let kept = i64::try_from(COMMAND_KEPT_MS).unwrap_or(i64::MAX);
        count_other(db, || {
            db.execute("DELETE FROM control WHERE expires < ?1", [command.at.0.saturating_sub(kept)])?;
            db.execute(sql, row)
        })?;
        let mut addressed =
            db.connection.prepare_cached("SELECT epoch FROM control WHERE id = ?1").map_err(db.fault())?;
        let epoch = addressed.query_row([&command.id.0], |row| rows::natural(row, 0)).map_err(db.fault())?;
        Ok(Addressee::Owner { epoch })
    }

    fn bytes(&self) -> usize {
        1024
    }
}

/// Takes a command.
pub(super) struct TakeCommand(pub(super) CommandId);

impl Work for TakeCommand {
    type Output = TakenCommand;

    fn write(&self, db: &Database) -> Result<TakenCommand, StoreError> {
        let sql = "UPDATE control SET taken = 1 WHERE id = ?1 AND taken = 0";
        let taken = count_other(db, || db.execute(sql, [&self.0.0]))?;
        Ok(if taken == 0 { TakenCommand::No } else { TakenCommand::Yes })
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// Stores the outcome of a command.
pub(super) struct SettleCommand(pub(super) CommandId, pub(super) ControlOutcome);

impl Work for SettleCommand {
    type Output = ();

    fn write(&self, db: &Database) -> Result<(), StoreError> {
        let outcome =
            serde_json::to_string(&self.1).map_err(|error| StoreError::Unwritable { why: error.to_string() })?;
        let sql = "UPDATE control SET outcome = ?2 WHERE id = ?1 AND taken = 1 AND outcome IS NULL";
        count_other(db, || db.execute(sql, params![self.0.0, outcome])).map(drop)
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// Removes a command, unless its owner is executing it.
pub(super) struct WithdrawCommand(pub(super) CommandId);

impl Work for WithdrawCommand {
    type Output = CommandState;

    fn write(&self, db: &Database) -> Result<CommandState, StoreError> {
        let stood = state(&db.connection, &self.0).map_err(db.fault())?;
        let sql = "DELETE FROM control WHERE id = ?1 AND (taken = 0 OR outcome IS NOT NULL)";
        count_other(db, || db.execute(sql, [&self.0.0]))?;
        Ok(stood)
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// The state of a command.
pub(super) fn state(connection: &Connection, id: &CommandId) -> rusqlite::Result<CommandState> {
    let stands = |row: &Row<'_>| {
        let (taken, outcome): (bool, Option<String>) = (row.get(0)?, row.get(1)?);
        Ok(match outcome.map(|outcome| serde_json::from_str(&outcome)) {
            Some(Ok(outcome)) => CommandState::Settled(outcome),
            // The outcome was written by a newer version and is unknown here.
            Some(Err(_)) => CommandState::Taken,
            None if taken => CommandState::Taken,
            None => CommandState::Waiting,
        })
    };
    let found = connection
        .prepare_cached("SELECT taken, outcome FROM control WHERE id = ?1")?
        .query_row([&id.0], stands)
        .optional()?;
    Ok(found.unwrap_or(CommandState::Gone))
}

/// The commands nobody has taken, in order of arrival. A command that only a newer version understands is skipped.
pub(super) fn commands(connection: &Connection, now: Timestamp) -> rusqlite::Result<Vec<AddressedCommand>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, session, epoch, command FROM control WHERE taken = 0 AND expires > ?1 ORDER BY number",
    )?;
    let mut found = statement.query([now.0])?;
    let mut commands = Vec::new();
    while let Some(row) = found.next()? {
        let Ok(control) = serde_json::from_str::<Control>(row.get_ref(3)?.as_str()?) else { continue };
        let (id, session) = (CommandId(row.get(0)?), rows::session(row, 1)?);
        commands.push(AddressedCommand { id, session, epoch: rows::natural(row, 2)?, control });
    }
    Ok(commands)
}
