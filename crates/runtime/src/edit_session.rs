//! Changes something about a session as a whole (its title, whether it is pinned or archived), whoever drives it. A
//! session that no process has open is claimed only to append the record; nothing of it is resumed.

use windlass_machine::{Fact, State};
use windlass_store::{Batch, Store, StoreError, Writer};
use windlass_tools::Secrets;
use windlass_vocab::{Control, ControlOutcome, NewerRecord, SessionChanged, SessionEdit, SessionId};

use crate::clock::Clock;
use crate::opening::{OpenError, lease_taken, nonce};
use crate::send_control::{ControlDelivery, send_control};
use crate::session_writer::SessionWriter;

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
    let lease = store.claim(session).await?;
    let records = store.read(session, 0).await?;
    if let Some(NewerRecord { seq, kind, before }) = NewerRecord::first(&records) {
        return Err(OpenError::Newer { seq, kind, before });
    }
    let mut state = State::fold(session, records.iter().map(|envelope| &envelope.record));
    let mut writer = Writer::new(session, lease.head(), nonce());
    let changed = SessionChanged::from(edit.clone());
    for fact in [Fact::LeaseTaken(lease_taken(lease.epoch())), Fact::Changed(changed)] {
        let session_writer = SessionWriter { store, secrets, clock, state: &mut state, writer: &mut writer };
        session_writer.step(fact, Batch::default()).await?;
    }
    Ok(())
}
