//! Which session an undo without an argument means: the steps of a plan change files in sessions of their own.

use windlass_machine::{Ledger, State};
use windlass_store::{SessionRow, Store};
use windlass_vocab::{CallId, SessionId, Undoable};

use super::session;
use crate::error::CommandError;

/// What an undo without an argument would find in a session.
enum LastChange {
    /// An undo that was interrupted, and is finished first.
    Interrupted,
    /// A call.
    Call(CallId),
}

/// Returns the step of a plan that made the last change not undone; `None` if this session itself made it, or nobody.
pub(crate) async fn step_with_last_change(
    store: &dyn Store,
    row: &SessionRow,
) -> Result<Option<SessionRow>, CommandError> {
    let own = match last_change(store, row.session).await? {
        Some(LastChange::Interrupted) => return Ok(None),
        Some(LastChange::Call(call)) => Some(call),
        None => None,
    };
    for step in session::children(store, row.session).await?.into_iter().rev() {
        let is_later = step.parent().is_some_and(|(_, position)| own.is_none_or(|own| position > own));
        if is_later && last_change(store, step.session).await?.is_some() {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

async fn last_change(store: &dyn Store, session: SessionId) -> Result<Option<LastChange>, CommandError> {
    let journal = store.read(session, 0).await?;
    let records = || journal.iter().map(|envelope| &envelope.record);
    if State::fold(session, records()).control.undo.is_some() {
        return Ok(Some(LastChange::Interrupted));
    }
    Ok(match Ledger::fold(records()).last().map(|effect| effect.of) {
        Some(Undoable::Call(call)) => Some(LastChange::Call(call)),
        Some(Undoable::Undo(_)) | None => None,
    })
}
