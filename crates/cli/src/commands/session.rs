//! Finding the session a command means.

use std::path::Path;

use windlass::store::{SessionRow, Store};
use windlass::vocab::{ModelName, Record, SessionId};

use super::CommandError;
use crate::exit::Exit;

/// Whose sessions the command line works on.
pub(super) const OWNER: &str = "local";

/// This folder's last session.
pub(super) async fn last_of_folder(store: &dyn Store, folder: &Path) -> Result<Option<SessionRow>, CommandError> {
    let rows = store.sessions(OWNER).await?;
    let here = rows.into_iter().filter(|row| row.workspace.as_deref() == folder.to_str());
    Ok(here.max_by_key(|row| row.updated))
}

/// The session with this key, or this folder's last.
pub(super) async fn named(store: &dyn Store, key: Option<&str>, folder: &Path) -> Result<SessionRow, CommandError> {
    match key {
        Some(key) => by_key(store, key).await,
        None => last_of_folder(store, folder).await?.ok_or_else(|| {
            CommandError::new(
                Exit::Usage,
                "this folder has no session yet; name one (windlass sessions list shows them)",
            )
        }),
    }
}

/// The session with this key.
pub(super) async fn by_key(store: &dyn Store, key: &str) -> Result<SessionRow, CommandError> {
    let missing =
        || CommandError::new(Exit::Usage, format!("there is no session `{key}`; `windlass sessions list` shows them"));
    let session = store.find(OWNER, key).await?.ok_or_else(missing)?;
    store.row(session).await?.ok_or_else(missing)
}

/// The model a session's last run began with.
pub(super) async fn model_of(store: &dyn Store, session: SessionId) -> Result<Option<ModelName>, CommandError> {
    let records = store.read(session, 0).await?;
    Ok(records.into_iter().rev().find_map(|envelope| match envelope.record {
        Record::RunStarted(started) => started.chain.into_iter().next(),
        _ => None,
    }))
}
