//! Reads the calls requested before we began to follow: the later events of a run name calls by number only.

use windlass_store::{ReverseRecords, Store, StoreError};
use windlass_vocab::{CallRequested, Record, SessionId};

/// Returns the calls of the session's last run, finished ones included: a call may finish while we read.
pub(crate) async fn calls_of_last_run(store: &dyn Store, session: SessionId) -> Result<Vec<CallRequested>, StoreError> {
    let mut calls = Vec::new();
    let mut records = ReverseRecords::new(store, session);
    while let Some(envelope) = records.next().await? {
        match envelope.record {
            Record::CallRequested(call) => calls.push(call),
            Record::RunStarted(_) => break,
            _ => {}
        }
    }
    Ok(calls)
}
