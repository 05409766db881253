//! The same line again: what was answered is answered at once, and what was cut short goes on.

use std::path::Path;
use std::sync::Arc;

use windlass::store::{SessionRow, Store};
use windlass::vocab::{Envelope, MessageId, Record, RunEnded};
use windlass::{Awaited, Event, end_awaited};

use super::{CommandError, session};

/// The end of a finished message's run, as it was recorded. The session is not opened for it: another
/// process may have it, and a run of its own may be open.
pub(super) async fn end_of(
    store: &dyn Store,
    row: &SessionRow,
    id: &str,
) -> Result<Option<(Event, RunEnded)>, CommandError> {
    let records = store.read(row.session, 0).await?;
    let end = end_awaited(&records, &mut Awaited::Message(id.into()));
    Ok(end.map(|(envelope, ended)| (Event::Record(Arc::new(envelope.clone())), ended.clone())))
}

/// The session of this folder with a run that is not over and was told these words, the last used
/// first, and the id of the message.
pub(super) async fn unfinished_in(
    store: &dyn Store,
    folder: &Path,
    prompt: &str,
) -> Result<Option<(SessionRow, MessageId)>, CommandError> {
    for row in session::of_folder(store, folder).await? {
        if session::is_open(&row)
            && let Some(id) = unfinished_message(store, &row, prompt).await?
        {
            return Ok(Some((row, id)));
        }
    }
    Ok(None)
}

/// The id of the message with these words that waits, or that a run has which is not over.
pub(super) async fn unfinished_message(
    store: &dyn Store,
    row: &SessionRow,
    prompt: &str,
) -> Result<Option<MessageId>, CommandError> {
    let waiting = store.waiting(row.session).await?;
    if let Some(message) = waiting.into_iter().find(|message| message.text == prompt) {
        return Ok(Some(message.message_id));
    }
    if !session::is_open(row) {
        return Ok(None);
    }
    let records = store.read(row.session, 0).await?;
    let told = of_last_run(&records).iter().rev().find_map(|envelope| match &envelope.record {
        Record::MessageAccepted(accepted) if accepted.text == prompt => Some(accepted.message_id.clone()),
        _ => None,
    });
    Ok(told)
}

/// The records of the last run, from the message that began it.
fn of_last_run(records: &[Envelope]) -> &[Envelope] {
    let started = records.iter().rposition(|envelope| matches!(envelope.record, Record::RunStarted(_)));
    let first = started.map_or(records.len(), |at| if records[at].batch.0 > 0 { at.saturating_sub(1) } else { at });
    &records[first..]
}
