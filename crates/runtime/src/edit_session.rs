//! Changes something about a session as a whole (its title, whether it is pinned or archived), whoever drives it. A
//! session that no process has open is claimed only to append the record; nothing of it is resumed.

use windlass_machine::Fact;
use windlass_store::{Store, StoreError};
use windlass_tools::Secrets;
use windlass_vocab::{Control, ControlOutcome, SessionChanged, SessionEdit, SessionId};

use crate::claimed_journal::ClaimedJournal;
use crate::clock::Clock;
use crate::opening::OpenError;
use crate::send_control::{ControlDelivery, send_control};

/// How often it is tried, where the session is claimed and released by others meanwhile.
const TRIES: u32 = 3;

/// Changes a session: through the process that has it open, or in its journal where none has. A session that is as the
/// edit makes it is left alone. The outcome is [`ControlOutcome::Edited`] if it is done.
pub async fn edit_session(
    store: &dyn Store,
    secrets: &Secrets,
    clock: &dyn Clock,
    session: SessionId,
    edit: &SessionEdit,
) -> Result<ControlDelivery, OpenError> {
    let row = store.row(session).await?.ok_or(StoreError::Missing)?;
    let done = ControlDelivery::Done(ControlOutcome::Edited {});
    if row.has(edit) {
        return Ok(done);
    }
    for _ in 0..TRIES {
        match append_edit(store, secrets, clock, session, edit).await {
            Err(OpenError::Store(StoreError::Busy { .. })) => {}
            appended => return appended.map(|()| done),
        }
        match send_control(store, secrets, session, Control::Edit { edit: edit.clone() }).await? {
            // Its owner has left: it can be claimed now.
            ControlDelivery::NobodyThere | ControlDelivery::OwnerLeft => {}
            delivered @ (ControlDelivery::Done(_) | ControlDelivery::NoAnswer | ControlDelivery::StillAtIt) => {
                return Ok(delivered);
            }
        }
    }
    Ok(ControlDelivery::OwnerLeft)
}

async fn append_edit(
    store: &dyn Store,
    secrets: &Secrets,
    clock: &dyn Clock,
    session: SessionId,
    edit: &SessionEdit,
) -> Result<(), OpenError> {
    let mut journal = ClaimedJournal::claim(store, secrets, clock, session).await?;
    journal.begin().await?;
    Ok(journal.record(Fact::Changed(SessionChanged::from(edit.clone()))).await?)
}
