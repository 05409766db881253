//! Handles a repeated command line: a finished message returns its recorded answer, an interrupted run continues.

use std::path::Path;

use windlass::Event;
use windlass::door::{AwaitedEnd, end_awaited};
use windlass_store::{ReverseRecords, SessionRow, Store};
use windlass_vocab::{MessageId, Record, RunEnded};

use super::session;
use crate::error::CommandError;

/// Returns the recorded end of a finished message's run. Does not open the session: another process may have it open
/// with another run.
pub(crate) async fn end_of(
    store: &dyn Store,
    row: &SessionRow,
    id: &str,
) -> Result<Option<(Event, RunEnded)>, CommandError> {
    let end = end_awaited(store, row.session, &mut AwaitedEnd::Message(id.into())).await?;
    Ok(end.map(|(envelope, ended)| (Event::Record(envelope), ended)))
}

/// Returns the last used session of this folder that `windlass run` began for this prompt, whose run is open and has no
/// process that works on it, and the id of that message. A session that a person or another door named is never taken.
/// Skips sessions that can't be read.
pub(crate) async fn unfinished_in(
    store: &dyn Store,
    folder: &Path,
    prompt: &str,
) -> Result<Option<(SessionRow, MessageId)>, CommandError> {
    for row in session::of_folder(store, folder).await? {
        if !session::has_only_its_run(&row) || !session::is_open(&row) || store.is_claimed(row.session).await? {
            continue;
        }
        match unfinished_message(store, &row, prompt).await {
            Ok(Some(id)) => return Ok(Some((row, id))),
            Ok(None) => {}
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns the id of the message with this text that is waiting or belongs to an open run.
pub(crate) async fn unfinished_message(
    store: &dyn Store,
    row: &SessionRow,
    prompt: &str,
) -> Result<Option<MessageId>, CommandError> {
    let message = unfinished(store, row, |_, words| words == prompt).await?;
    Ok(message.map(|(id, _)| id))
}

/// Returns the text with which the message of this id was sent before: from its ended run, else from the inbox or the
/// open run.
pub(crate) async fn words_of(
    store: &dyn Store,
    row: &SessionRow,
    id: &str,
    finished: Option<&RunEnded>,
) -> Result<Option<String>, CommandError> {
    if finished.is_none() {
        let message = unfinished(store, row, |known, _| known.0 == id).await?;
        return Ok(message.map(|(_, words)| words));
    }
    let words = ReverseRecords::new(store, row.session).find_map(|envelope| match envelope.record {
        Record::MessageAccepted(accepted) if accepted.message_id.0 == id => Some(accepted.text),
        _ => None,
    });
    Ok(words.await?)
}

/// Returns the message that `is_it` accepts, among those waiting and those of the open run.
async fn unfinished(
    store: &dyn Store,
    row: &SessionRow,
    is_it: impl Fn(&MessageId, &str) -> bool,
) -> Result<Option<(MessageId, String)>, CommandError> {
    let waiting = store.waiting(row.session).await?;
    if let Some(message) = waiting.into_iter().find(|message| is_it(&message.message_id, &message.text)) {
        return Ok(Some((message.message_id, message.text)));
    }
    if !session::is_open(row) {
        return Ok(None);
    }
    let mut records = ReverseRecords::new(store, row.session);
    let mut begun = false;
    while let Some(envelope) = records.next().await? {
        match envelope.record {
            Record::MessageAccepted(accepted) if is_it(&accepted.message_id, &accepted.text) => {
                return Ok(Some((accepted.message_id, accepted.text)));
            }
            // The message that began a run precedes its `RunStarted`. A run that ended meanwhile is not open.
            _ if begun => break,
            Record::RunEnded(_) => break,
            record => begun = matches!(record, Record::RunStarted(_)),
        }
    }
    Ok(None)
}
