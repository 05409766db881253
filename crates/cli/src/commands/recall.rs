//! Reads what was requested and asked before we began to follow: the later events of a run name calls and questions by
//! number only.

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_vocab::{Record, SessionId};

/// Returns the calls of the session's last run and the questions about them, in order. Finished calls are included: a
/// call may finish while we read.
pub(crate) async fn calls_of_last_run(store: &dyn Store, session: SessionId) -> Result<Vec<Record>, StoreError> {
    let mut calls = Vec::new();
    let mut records = ReverseRecords::new(store, session);
    while let Some(envelope) = records.next().await? {
        match envelope.record {
            Record::RunStarted(_) => break,
            record if is_of_call(&record) => calls.push(record),
            _ => {}
        }
    }
    calls.reverse();
    Ok(calls)
}

/// Whether later events of the run name by number only what this record says in full.
pub(crate) fn is_of_call(record: &Record) -> bool {
    matches!(
        record,
        Record::CallRequested(_)
            | Record::CallStarted(_)
            | Record::QuestionAsked(_)
            | Record::QuestionAnswered(_)
            | Record::ToolWithheld(_)
    )
}
