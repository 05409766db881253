//! `windlass sessions salvage` and `accept-loss`: copies the intact part of a session that does not verify, and accepts
//! that a store lost its last commits.

use windlass_runtime::{Clock, SalvageError, SalvagedSession, SystemClock};
use windlass_store::{ForkError, SessionRow, Store, StoreError};

use super::session;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::{harmless_line, quoted};
use crate::streams::{print, print_notice};

pub(super) async fn salvage(store: &dyn Store, key: &str, new_key: Option<&str>) -> CommandResult {
    let origin = session::by_key(store, key).await?;
    let SalvagedSession { session, records, broken } = match new_key {
        Some(new_key) => windlass_runtime::salvage(store, origin.session, new_key, SystemClock.now()).await?,
        None => under_a_free_key(store, &origin).await?,
    };
    let saved = store.row(session).await?.ok_or(StoreError::Missing)?;
    print(&format!("{}\n", harmless_line(&saved.key)))?;
    let (key, new) = (quoted(&origin.key), quoted(&saved.key));
    print_notice(&harmless_line(&format!("saved {records} records of {key} as {new}; in {key} {broken}")));
    Ok(Exit::Done)
}

/// Tries `KEY-salvaged`, `KEY-salvaged-2` and so on.
async fn under_a_free_key(store: &dyn Store, origin: &SessionRow) -> Result<SalvagedSession, SalvageError> {
    let mut number = 1;
    loop {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let key = format!("{}-salvaged{end}", origin.key);
        match windlass_runtime::salvage(store, origin.session, &key, SystemClock.now()).await {
            Err(SalvageError::Fork(ForkError::Store(StoreError::KeyTaken { .. }))) => number += 1,
            salvaged => return salvaged,
        }
    }
}

pub(super) async fn accept_loss(store: &dyn Store) -> CommandResult {
    let text = match store.accept_loss().await? {
        Some(loss) => format!("{loss}\nFrom now on sessions go on from what is there.\n"),
        None => "nothing is missing\n".to_owned(),
    };
    print(&text)?;
    Ok(Exit::Done)
}

impl From<SalvageError> for CommandError {
    fn from(error: SalvageError) -> Self {
        match error {
            SalvageError::Fork(error) => error.into(),
            SalvageError::Whole => Self::new(Exit::Usage, format!("{error}; `windlass fork` copies it")),
            SalvageError::Nothing(_) => Self::new(Exit::Store, error.to_string()),
        }
    }
}
