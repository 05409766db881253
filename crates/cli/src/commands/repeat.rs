//! Handles a repeated command line: a finished message returns its recorded answer, an interrupted run continues.

use std::path::Path;

use windlass::Event;
use windlass::door::{AwaitedEnd, end_awaited};
use windlass_store::{ReverseRecords, SessionRow, Store};
use windlass_vocab::{AttachedFile, Attachment, MessageId, Record, RunEnded};

use super::session;
use crate::error::CommandError;

/// A message by which a repeated command line is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageWords {
    /// The text, as it is recorded.
    pub(crate) text: String,
    /// What is attached, as people read it.
    attached: Vec<String>,
}

impl MessageWords {
    pub(crate) fn new(text: String, files: &[AttachedFile]) -> Self {
        Self { text, attached: files.iter().map(AttachedFile::description).collect() }
    }
}

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
    words: &MessageWords,
) -> Result<Option<(SessionRow, MessageId)>, CommandError> {
    for row in session::of_folder(store, folder).await? {
        if !session::has_only_its_run(&row) || !row.status.is_open() || store.is_claimed(row.session).await? {
            continue;
        }
        match unfinished_message(store, &row, words).await {
            Ok(Some(id)) => return Ok(Some((row, id))),
            Ok(None) => {}
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns the id of this message, if it is waiting or belongs to an open run.
pub(crate) async fn unfinished_message(
    store: &dyn Store,
    row: &SessionRow,
    words: &MessageWords,
) -> Result<Option<MessageId>, CommandError> {
    let message = unfinished(store, row, |_, known| known == words).await?;
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
        return Ok(message.map(|(_, words)| words.text));
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
    is_it: impl Fn(&MessageId, &MessageWords) -> bool,
) -> Result<Option<(MessageId, MessageWords)>, CommandError> {
    for message in store.waiting(row.session).await? {
        let words = MessageWords::new(message.text, &message.files);
        if is_it(&message.message_id, &words) {
            return Ok(Some((message.message_id, words)));
        }
    }
    if !row.status.is_open() {
        return Ok(None);
    }
    let mut records = ReverseRecords::new(store, row.session);
    let mut begun = false;
    while let Some(envelope) = records.next().await? {
        match envelope.record {
            Record::MessageAccepted(accepted) => {
                let attached = accepted.attachments.iter().map(Attachment::description).collect();
                let words = MessageWords { text: accepted.text, attached };
                if is_it(&accepted.message_id, &words) {
                    return Ok(Some((accepted.message_id, words)));
                }
                if begun {
                    break;
                }
            }
            // The message that began a run precedes its `RunStarted`. A run that ended meanwhile is not open.
            _ if begun => break,
            Record::RunEnded(_) => break,
            record => begun = matches!(record, Record::RunStarted(_)),
        }
    }
    Ok(None)
}
